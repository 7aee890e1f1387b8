import { isId } from '../../domain/ids.ts'
import { callerOf, may } from '../access.ts'
import { answer, refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import type { ServiceDoors } from '../ports.ts'
import { documented } from '../schemas/documented.ts'
import { bearerFailures } from '../schemas/failure.ts'
import { renotified, renotifiedMany, renotifyQuery } from '../schemas/message-query.ts'
import { messageParams } from '../schemas/params.ts'

/** `POST /v1/messages/:id/renotify` and `POST /v1/messages/renotify`: events go out again, messages never do. */
export function renotify(app: App, { messages }: ServiceDoors): void {
  const onRequest = may('messages:send')
  const one = {
    tags: ['Messages'],
    summary: 'Tell the current status of one message again',
    description: 'The event goes out once more, marked with `redelivery: true`. 422 while there is no status to tell.',
    params: messageParams,
    response: {
      200: documented('The event stands in the outbox.', renotified),
      ...bearerFailures('validation_failed', 'resource_not_found', 'conflict')
    }
  }
  app.post('/v1/messages/:id/renotify', { onRequest, schema: one }, async (request, reply) => {
    const { id } = request.params
    if (!isId('msg', id)) return refuse(reply, 'resource_not_found')
    const result = await messages.renotify(callerOf(request), id)
    if (!result.ok && result.code === 'validation_failed') {
      return refuse(reply, result.code, [{ path: 'id', message: 'must be a message that has a delivery status' }])
    }
    return answer(reply, result, 200, ({ enqueued, status }) => ({ enqueued, status }))
  })

  const many = {
    tags: ['Messages'],
    summary: 'Tell the current status of many messages again',
    description: 'A filter that matches more than 5000 messages is refused, and nothing is told.',
    querystring: renotifyQuery,
    response: {
      200: documented('The events stand in the outbox.', renotifiedMany),
      ...bearerFailures('validation_failed')
    }
  }
  app.post('/v1/messages/renotify', { onRequest, schema: many }, async (request, reply) => {
    const result = await messages.renotifyMany(callerOf(request), request.query)
    return answer(reply, result, 200, ({ enqueued, skipped }) => ({ enqueued, skipped }))
  })
}
