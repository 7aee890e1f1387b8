import { isId } from '../../domain/ids.ts'
import { callerOf, may } from '../access.ts'
import { answer, refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import type { ServiceDoors } from '../ports.ts'
import { channel, renameBody } from '../schemas/channel.ts'
import { documented } from '../schemas/documented.ts'
import { bearerFailures, bodyFailures } from '../schemas/failure.ts'
import { channelParams } from '../schemas/params.ts'
import { showChannel } from './present.ts'

/** `PATCH` and `DELETE /v1/channels/:id`, `POST /v1/channels/:id/disconnect`: each answers the channel as it is then. */
export function changeChannel(app: App, { channels }: ServiceDoors): void {
  const onRequest = may('channels:write')
  const rename = {
    tags: ['Channels'],
    summary: 'Rename a channel',
    params: channelParams,
    body: renameBody,
    response: {
      200: documented('The channel as it is now.', channel),
      ...bodyFailures('channel_not_found', 'conflict')
    }
  }
  app.patch('/v1/channels/:id', { onRequest, schema: rename }, async (request, reply) => {
    const { id } = request.params
    if (!isId('ch', id)) return refuse(reply, 'channel_not_found')
    return answer(reply, await channels.rename(callerOf(request), id, request.body.label), 200, showChannel)
  })

  const response = {
    200: documented('The channel as it is now.', channel),
    ...bearerFailures('channel_not_found', 'conflict')
  }
  const remove = { tags: ['Channels'], summary: 'Delete a channel', params: channelParams, response }
  app.delete('/v1/channels/:id', { onRequest, schema: remove }, async (request, reply) => {
    const { id } = request.params
    if (!isId('ch', id)) return refuse(reply, 'channel_not_found')
    return answer(reply, await channels.remove(callerOf(request), id), 200, showChannel)
  })

  const disconnect = { tags: ['Channels'], summary: 'Stop sending through a channel', params: channelParams, response }
  app.post('/v1/channels/:id/disconnect', { onRequest, schema: disconnect }, async (request, reply) => {
    const { id } = request.params
    if (!isId('ch', id)) return refuse(reply, 'channel_not_found')
    return answer(reply, await channels.disconnect(callerOf(request), id), 200, showChannel)
  })
}
