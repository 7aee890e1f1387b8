import type { Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import { Pool } from 'undici'
import { isObject, parseObject } from '../official/loose-json.ts'
import type { UnofficialLine } from '../port.ts'
import { chatIdOf, fullMessageId, messageRefOf } from './identifiers.ts'
import { messageOf } from './inbound-message.ts'
import { createInstances } from './instances.ts'

/** A received file as its message told of it. */
export type RemoteFile = {
  /** Path that the instance gave with the message, if it gave one. */
  readonly path: string | null
  readonly providerId: string
  /** Sender of the message. */
  readonly from: string
}
/**
 * - `found`: the bytes follow. Whoever takes them reads `body` to its end or destroys it; what is larger than the limit ends in an error.
 * - `gone`: the instance does not have it and cannot get it again.
 * - `unavailable`: no answer, or none that says something; another time may be better.
 */
export type MediaDownload =
  | { readonly kind: 'found'; readonly body: Readable; readonly size: number | null; readonly type: string | null }
  | { readonly kind: 'gone' }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'unavailable'; readonly detail: string }

export type MediaDownloads = {
  /** Never rejects. `signal` ends the body too. */
  download(line: UnofficialLine, file: RemoteFile, signal: AbortSignal): Promise<MediaDownload>
  close(): Promise<void>
}

const INSTANCES_MAX = 256
/** Files at a time from one instance. */
const CONNECTIONS_PER_INSTANCE = 16
const CONNECT_TIMEOUT_MS_MAX = 10_000
const KEEP_ALIVE_MS = 4_000
/** Where instances keep files; nothing else of theirs is ever asked for with the key. */
const FILES = '/api/files/'
const PLAIN = /^[\x20-\x7e]*$/

/**
 * Fetches received files from session servers (`provider-unofficial`, 6.4). Of the address that came with a message only
 * the path is used, below the instance's own base address: its host is often wrong and never to be trusted.
 * `timeoutMs` limits connecting, the wait for the answer's head, and each pause in the body.
 */
export function createMediaDownloads(options: { timeoutMs: number; bytesMax: number }): MediaDownloads {
  const { timeoutMs, bytesMax } = options
  const instances = createInstances(timeoutMs)
  const pools = new LRUCache<string, Pool>({ max: INSTANCES_MAX, dispose: pool => void pool.close() })

  function poolOf(origin: string): Pool {
    const known = pools.get(origin)
    if (known) return known
    const pool = new Pool(origin, {
      connections: CONNECTIONS_PER_INSTANCE,
      pipelining: 1,
      allowH2: false,
      connectTimeout: Math.min(timeoutMs, CONNECT_TIMEOUT_MS_MAX),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxResponseSize: bytesMax
    })
    pools.set(origin, pool)
    return pool
  }

  async function get({ baseUrl, apiKey }: UnofficialLine, path: string, signal: AbortSignal): Promise<MediaDownload> {
    const { origin, pathname } = new URL(baseUrl)
    // The pool takes a connection out of use for good when it is handed a header that it refuses.
    if (!PLAIN.test(`${path}${apiKey}`)) return { kind: 'unavailable', detail: 'invalid_header' }
    const headers = { 'accept-encoding': 'identity', ...(apiKey !== null && { 'x-api-key': apiKey }) }
    const prefix = pathname.replace(/\/+$/, '')
    const answer = await poolOf(origin).request({ method: 'GET', path: prefix + path, headers, signal })
    const { statusCode: status, body } = answer
    const length = Number(answer.headers['content-length'] ?? Number.NaN)
    // Whoever reads it hears of its errors; to one who gives it up they say nothing, and must not end the process.
    body.on('error', () => undefined)
    if (status === 200 && !(length > bytesMax)) {
      const type = answer.headers['content-type']
      return {
        kind: 'found',
        body,
        size: Number.isSafeInteger(length) ? length : null,
        type: typeof type === 'string' ? type : null
      }
    }
    // An error's few bytes are not worth a connection kept.
    body.destroy()
    if (status === 200) return { kind: 'too_large' }
    return status === 404 || status === 410 ? { kind: 'gone' } : { kind: 'unavailable', detail: `http ${status}` }
  }

  /** Asks the instance to fetch the file from the phone once more: the path of the new one, or why there is none. */
  async function again(line: UnofficialLine, file: RemoteFile, signal: AbortSignal): Promise<string | MediaDownload> {
    const { chat, messageId } = namesOf(file)
    const place = `${encodeURIComponent(line.session)}/chats/${encodeURIComponent(chat)}`
    const path = `/api/${place}/messages/${encodeURIComponent(messageId)}?downloadMedia=true`
    const exchange = await instances.call(line, { method: 'GET', path, body: null, signal })
    if (exchange.kind !== 'answered') return { kind: 'unavailable', detail: exchange.reason }
    if (exchange.status === 200) {
      const payload = parseObject(exchange.body)
      const message = isObject(payload) ? messageOf(payload, file.providerId) : null
      return (message?.kind === 'media' ? filePathOf(message.path) : null) ?? { kind: 'gone' }
    }
    // Unknown message, an engine without a store, an engine that cannot.
    const isGone = exchange.status === 400 || exchange.status === 404 || exchange.status === 501
    return isGone ? { kind: 'gone' } : { kind: 'unavailable', detail: `http ${exchange.status}` }
  }

  async function find(line: UnofficialLine, file: RemoteFile, signal: AbortSignal): Promise<MediaDownload> {
    const path = filePathOf(file.path)
    const first: MediaDownload = path === null ? { kind: 'gone' } : await get(line, path, signal)
    if (first.kind !== 'gone') return first
    const renewed = await again(line, file, signal)
    return typeof renewed === 'string' ? get(line, renewed, signal) : renewed
  }

  return {
    async download(line, file, signal) {
      try {
        return await find(line, file, signal)
      } catch (error) {
        const code = (error as { code?: unknown }).code
        return { kind: 'unavailable', detail: typeof code === 'string' ? code : 'failed' }
      }
    },
    async close() {
      await Promise.all([instances.close(), ...[...pools.values()].map(pool => pool.destroy())])
    }
  }
}

/** The part of a path that names a file; null for every other place on an instance. */
function filePathOf(path: string | null): string | null {
  const start = path?.indexOf(FILES) ?? -1
  if (path === null || start < 0) return null
  const file = path.slice(start)
  return /\.\.|%2e%2e|%2f|%5c|\\/i.test(file) ? null : file
}

/** The message as the instance names it. The file's own name tells best: the chat may go by a hidden id. */
function namesOf({ path, providerId, from }: RemoteFile): { chat: string; messageId: string } {
  const name = decoded(path?.split('?')[0]?.split('/').at(-1) ?? '').replace(/\.[0-9a-z]+$/i, '')
  const ref = messageRefOf(name)
  if (ref?.chat && ref.bareId === providerId) return { chat: ref.chat, messageId: name }
  const chat = chatIdOf(from)
  return { chat, messageId: fullMessageId(providerId, false, chat) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
