import { isId } from '../../domain/ids.ts'
import { callerOf, may } from '../access.ts'
import { answer, refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import type { ServiceDoors } from '../ports.ts'
import { attempt, cancelledAttempt, startAttemptBody, startedAttempt } from '../schemas/attempt.ts'
import { documented } from '../schemas/documented.ts'
import { bearerFailures, bodyFailures } from '../schemas/failure.ts'
import { attemptParams } from '../schemas/params.ts'

/** `/v1/channels/connect…`: pairing of an unofficial number by QR code. */
export function attempts(app: App, doors: ServiceDoors): void {
  const start = {
    tags: ['Pairing'],
    summary: 'Start pairing a number',
    body: startAttemptBody,
    response: {
      201: documented('The pairing has begun; poll it for the QR code.', startedAttempt),
      ...bodyFailures('risk_acceptance_required', 'outbound_address_blocked', 'no_unofficial_instance_available')
    }
  }
  app.post('/v1/channels/connect', { onRequest: may('channels:write'), schema: start }, async (request, reply) => {
    return answer(reply, await doors.attempts.start(callerOf(request), request.body), 201, started => started)
  })

  const path = '/v1/channels/connect/:attemptId'
  const poll = {
    tags: ['Pairing'],
    summary: 'State and QR code of a pairing',
    params: attemptParams,
    response: { 200: attempt, ...bearerFailures('channel_not_found') }
  }
  app.get(path, { onRequest: may('channels:read'), schema: poll }, async (request, reply) => {
    const { attemptId } = request.params
    if (!isId('cxn', attemptId)) return refuse(reply, 'channel_not_found')
    return answer(reply, await doors.attempts.poll(callerOf(request), attemptId), 200, view => view)
  })

  const cancel = {
    tags: ['Pairing'],
    summary: 'Cancel a pairing',
    params: attemptParams,
    response: {
      200: documented('The pairing is discarded.', cancelledAttempt),
      ...bearerFailures('channel_not_found', 'attempt_not_cancellable')
    }
  }
  app.delete(path, { onRequest: may('channels:write'), schema: cancel }, async (request, reply) => {
    const { attemptId } = request.params
    if (!isId('cxn', attemptId)) return refuse(reply, 'channel_not_found')
    return answer(reply, await doors.attempts.cancel(callerOf(request), attemptId), 200, () => ({ cancelled: true }))
  })
}
