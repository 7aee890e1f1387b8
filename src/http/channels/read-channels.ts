import { z } from 'zod'
import { isId } from '../../domain/ids.ts'
import { callerOf, may } from '../access.ts'
import { answer, refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import { ask } from '../page.ts'
import type { ServiceDoors } from '../ports.ts'
import { auditEvent, channelWithTags, listedChannel } from '../schemas/channel.ts'
import { documented } from '../schemas/documented.ts'
import { bearerFailures } from '../schemas/failure.ts'
import { cursor, limit, maybe, page } from '../schemas/paging.ts'
import { channelParams } from '../schemas/params.ts'
import { showAudit, showChannelDetail, showListedChannel } from './present.ts'

/** `GET /v1/channels`, `GET /v1/channels/:id`, `GET /v1/channels/:id/events` */
export function readChannels(app: App, { channels }: ServiceDoors): void {
  const list = {
    tags: ['Channels'],
    summary: 'List channels',
    querystring: z.object({
      limit,
      cursor,
      tag: maybe(z.string().max(64)).describe('Only numbers with this tag (`tag_` id).')
    }),
    response: { 200: page(listedChannel, 'Paired channels.'), ...bearerFailures('validation_failed') }
  }
  app.get('/v1/channels', { onRequest: may('channels:read'), schema: list }, async request => {
    const { items, nextCursor } = await ask('cursor', () => channels.list(callerOf(request), request.query))
    return { items: items.map(showListedChannel), nextCursor }
  })

  const read = {
    tags: ['Channels'],
    summary: 'Read a channel',
    params: channelParams,
    response: { 200: documented('The channel and its tags.', channelWithTags), ...bearerFailures('channel_not_found') }
  }
  app.get('/v1/channels/:id', { onRequest: may('channels:read'), schema: read }, async (request, reply) => {
    const { id } = request.params
    if (!isId('ch', id)) return refuse(reply, 'channel_not_found')
    return answer(reply, await channels.read(callerOf(request), id), 200, showChannelDetail)
  })

  const events = {
    tags: ['Channels'],
    summary: 'Audit timeline of a channel',
    params: channelParams,
    querystring: z.object({ limit, before: cursor }),
    response: { 200: page(auditEvent, 'Newest first.'), ...bearerFailures('validation_failed', 'channel_not_found') }
  }
  app.get('/v1/channels/:id/events', { onRequest: may('channels:read'), schema: events }, async (request, reply) => {
    const { id } = request.params
    if (!isId('ch', id)) return refuse(reply, 'channel_not_found')
    const result = await ask('before', () => channels.audit(callerOf(request), id, request.query))
    return answer(reply, result, 200, ({ items, nextCursor }) => ({ items: items.map(showAudit), nextCursor }))
  })
}
