import { isId } from '../../domain/ids.ts'
import { callerOf, may } from '../access.ts'
import { answer, refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import type { ServiceDoors } from '../ports.ts'
import { isPhone } from '../schemas/address.ts'
import { bodyFailures } from '../schemas/failure.ts'
import { refParams } from '../schemas/params.ts'
import { accepted, sendBody } from '../schemas/send.ts'

/** `POST /v1/channels/:ref/messages`: 202 once the message is on record. */
export function sendMessage(app: App, { messages }: ServiceDoors): void {
  const schema = {
    tags: ['Messages'],
    summary: 'Send one message',
    params: refParams,
    body: sendBody,
    response: {
      202: accepted,
      ...bodyFailures(
        'channel_not_found',
        'channel_limited',
        'channel_quarantined',
        'channel_restricted',
        'outbound_address_blocked',
        'unsupported_capability',
        'conflict',
        'channel_disconnected'
      )
    }
  }
  app.post('/v1/channels/:ref/messages', { onRequest: may('messages:send'), schema }, async (request, reply) => {
    const { ref } = request.params
    if (!isId('ch', ref) && !isPhone(ref)) return refuse(reply, 'channel_not_found')
    const { idempotencyKey } = request.body
    const result = await messages.send(callerOf(request), ref, request.body)
    return answer(reply, result, 202, ({ idempotent, messageId, traceId }) => ({
      idempotencyKey,
      idempotent,
      messageId,
      state: 'queued',
      traceId
    }))
  })
}
