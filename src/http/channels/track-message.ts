import { isId } from '../../domain/ids.ts'
import { callerOf, may } from '../access.ts'
import { answer, refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import type { ServiceDoors } from '../ports.ts'
import { documented } from '../schemas/documented.ts'
import { bearerFailures } from '../schemas/failure.ts'
import { messageParams } from '../schemas/params.ts'
import { tracking } from '../schemas/tracking.ts'
import { showTracked } from './present.ts'

/** `GET /v1/messages/:id` */
export function trackMessage(app: App, { messages }: ServiceDoors): void {
  const schema = {
    tags: ['Messages'],
    summary: 'Track one message',
    params: messageParams,
    response: {
      200: documented('The message as far as it has come.', tracking),
      ...bearerFailures('resource_not_found')
    }
  }
  app.get('/v1/messages/:id', { onRequest: may('messages:read'), schema }, async (request, reply) => {
    const { id } = request.params
    if (!isId('msg', id)) return refuse(reply, 'resource_not_found')
    return answer(reply, await messages.track(callerOf(request), id), 200, showTracked)
  })
}
