import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isId } from '../../domain/ids.ts'
import { callerOf, may } from '../access.ts'
import { answer, refuse } from '../answer.ts'
import type { App } from '../app-types.ts'
import type { MediaItem, ServiceDoors } from '../ports.ts'
import { bearerFailures } from '../schemas/failure.ts'

/** Media never changes under its id. */
const CACHE = 'private, max-age=86400'
const UNKNOWN_TYPE = 'application/octet-stream'
/** A type with parameters of plain words: what anything else would make of a browser is not worth finding out. */
const SAFE_TYPE = /^[a-z0-9][\w!#$&^.+-]*\/[a-z0-9][\w!#$&^.+-]*(; ?[a-z0-9-]+=[\w.,+-]+)*$/i
const TYPE_CHARS_MAX = 127
const FILENAME_CHARS_MAX = 200

const binary = {
  description: 'The bytes.',
  content: { [UNKNOWN_TYPE]: { schema: z.string().meta({ format: 'binary' }) } }
}

type Named = { readonly channelId: string; readonly mediaId: string }

/** `GET` and `HEAD /v1/media/:channelId/:mediaId` */
export function media(app: App, doors: ServiceDoors): void {
  const url = '/v1/media/:channelId/:mediaId'
  const schema = {
    tags: ['Messages'],
    summary: 'Bytes of a received medium',
    description:
      'Streams the file, or one range of it (`Range: bytes=a-b`). Several ranges are answered with all of it.',
    params: z.object({
      channelId: z.string().describe("The envelope's `channelId`."),
      mediaId: z.string().describe('`data.message.mediaId` of `message.received`.')
    }),
    response: {
      200: binary,
      206: { ...binary, description: 'The bytes of the range.' },
      ...bearerFailures('channel_not_found', 'resource_not_found', 'range_not_satisfiable', 'provider_unavailable')
    }
  }
  const give = async (request: FastifyRequest, reply: FastifyReply, { channelId, mediaId }: Named) => {
    if (!isId('ch', channelId)) return refuse(reply, 'channel_not_found')
    const opened = await doors.media.open(callerOf(request), channelId, mediaId)
    return opened.ok ? serve(request, reply, opened.value) : answer(reply, opened, 200, () => undefined)
  }
  // Refusals keep the scope's own `no-store`, which its hook sets before this one runs.
  const onSend: Parameters<typeof app.route>[0]['onSend'] = (_request, reply, _payload, done) => {
    if (reply.statusCode < 300) reply.header('cache-control', CACHE)
    done()
  }
  const options = { url, onRequest: may('messages:read'), onSend }
  app.route({
    ...options,
    method: 'HEAD',
    schema: { ...schema, hide: true },
    handler: (request, reply) => give(request, reply, request.params)
  })
  app.route({
    ...options,
    method: 'GET',
    schema,
    exposeHeadRoute: false,
    handler: (request, reply) => give(request, reply, request.params)
  })
}

function serve(request: FastifyRequest, reply: FastifyReply, item: MediaItem): FastifyReply {
  const { size } = item
  const range = size === null ? 'all' : rangeOf(request.headers, size)
  if (range === 'beyond') {
    item.discard()
    return refuse(reply.header('content-range', `bytes */${size}`), 'range_not_satisfiable')
  }
  reply.headers({
    'content-type': safeType(item.type),
    'x-content-type-options': 'nosniff',
    // Strangers sent it: should it be opened as a page after all, it may do nothing.
    'content-security-policy': "sandbox; default-src 'none'",
    ...(item.filename !== null && { 'content-disposition': disposition(item.filename) }),
    ...(size !== null && { 'accept-ranges': 'bytes', 'content-length': size })
  })
  if (range !== 'all') {
    const { first, last } = range
    reply.code(206).headers({ 'content-range': `bytes ${first}-${last}/${size}`, 'content-length': last - first + 1 })
  }
  if (request.method === 'HEAD') {
    item.discard()
    return reply.send()
  }
  return reply.send(item.body(range === 'all' ? null : range))
}

type Range = { readonly first: number; readonly last: number }

/**
 * The one range that is asked for (RFC 9110, 14.2). Several, and what is no range, count as none; so does a range under a
 * condition, for no validator was ever given that could meet it.
 */
function rangeOf(headers: FastifyRequest['headers'], size: number): Range | 'all' | 'beyond' {
  const { range, 'if-range': condition } = headers
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(range ?? '') ?? []
  if (condition !== undefined || from + to === '') return 'all'
  if (from === '')
    return Number(to) === 0 || size === 0 ? 'beyond' : { first: Math.max(0, size - Number(to)), last: size - 1 }
  const first = Number(from)
  const last = to === '' ? size - 1 : Number(to)
  if (to !== '' && last < first) return 'all'
  return first >= size ? 'beyond' : { first, last: Math.min(last, size - 1) }
}

const safeType = (type: string): string => (type.length <= TYPE_CHARS_MAX && SAFE_TYPE.test(type) ? type : UNKNOWN_TYPE)

/** Both forms of RFC 6266: plain for old clients, UTF-8 for all others. */
function disposition(filename: string): string {
  const name = filename
    .replace(/[\p{Cc}\p{Cf}\p{Cs}/\\]/gu, '_')
    .slice(0, FILENAME_CHARS_MAX)
    .replace(/\p{Cs}/gu, '_')
  const plain = name.replace(/[^\x20-\x7e]|["%]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
