import { z } from 'zod'
import { isId } from '../../domain/ids.ts'
import { refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import type { ServiceDoors } from '../ports.ts'
import { documented } from '../schemas/documented.ts'
import { failures } from '../schemas/failure.ts'
import { answerCallback, bytesOf, only } from './exchange.ts'

/** `POST /webhooks/unofficial/:channelOrAttemptId`: events of one session, signed with that session's key. */
export function unofficialCallbacks(app: App, { callbacks }: ServiceDoors): void {
  const schema = {
    tags: ['Callbacks'],
    summary: 'Events of an unofficial session',
    description: 'Up to 4 MB, signed in `X-Webhook-Hmac` (`X-Webhook-Hmac-Algorithm`).',
    security: [],
    params: z.object({ channelOrAttemptId: z.string().describe('`ch_` or `cxn_` id.') }),
    response: {
      200: documented('Every known update is on record.', z.object({})),
      ...failures('malformed_json', 'invalid_signature', 'channel_not_found', 'payload_too_large', 'overloaded')
    }
  }
  app.post('/webhooks/unofficial/:channelOrAttemptId', { schema }, async (request, reply) => {
    const reference = request.params.channelOrAttemptId
    if (!isId('ch', reference) && !isId('cxn', reference)) return refuse(reply, 'channel_not_found')
    const headers = {
      hmac: only(request.headers['x-webhook-hmac']),
      algorithm: only(request.headers['x-webhook-hmac-algorithm'])
    }
    const { status } = await callbacks.unofficial(reference, bytesOf(request.body), headers, request.id)
    return answerCallback(reply, status)
  })
}
