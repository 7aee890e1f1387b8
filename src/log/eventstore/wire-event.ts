import type { EventData, JSONType, RecordedEvent as ServerEvent } from '@eventstore/db-client'
import { chainHash } from '../hash-chain.ts'
import type { EventMeta, NewEvent, Position } from '../port.ts'

/** An event of ours as the server holds it. */
export type StoredEvent = {
  readonly stream: string
  readonly revision: number
  readonly hash: string
  readonly event: NewEvent
  /** 0 when the server does not tell it: it does so in `$all` only. */
  readonly position: Position
}

/** Events encoded once, chained to what stands before them: a repeat sends the same bytes under the same ids. */
export type Chained = {
  readonly events: readonly EventData[]
  /** Of the last event. */
  readonly hash: string
  readonly revision: number
}

/**
 * Encodes an append. Data is the body's JSON; metadata is ours plus `id`, `hash`, `$correlationId` (the trace) and
 * `$causationId`. The server's event id is taken from the chained hash, so that it stands for the very bytes: the server
 * recognises a repetition only when nothing at all differs.
 */
export function chainEvents(stream: string, previous: string, expected: number, events: readonly NewEvent[]): Chained {
  let hash = previous
  const encoded = events.map((event, index) => {
    hash = chainHash(hash, stream, expected + 1 + index, event)
    return encode(event, hash)
  })
  return { events: encoded, hash, revision: expected + events.length }
}

function encode(event: NewEvent, hash: string): EventData {
  const id = uuidOf(hash)
  const metadata = new TextEncoder().encode(metadataOf(event, hash))
  const data = canonical(event.body)
  // Text that JSON would write otherwise goes as bytes, so that it comes back as it was.
  if (data === undefined)
    return { id, type: event.type, contentType: 'application/octet-stream', data: bytesOf(event.body), metadata }
  return { id, type: event.type, contentType: 'application/json', data: data as JSONType, metadata }
}

/** RFC 9562 version 8: 122 bits of the hash. */
function uuidOf(hash: string): string {
  const variant = '89ab'[Number.parseInt(hash.charAt(16), 16) & 3]
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

const RESERVED = ['id', 'hash', 'text', '$correlationId', '$causationId']

function metadataOf({ id, meta }: NewEvent, hash: string): string {
  const parsed = canonical(meta)
  const own = isObject(parsed) && RESERVED.every(key => !(key in parsed)) ? parsed : null
  const { trace, cause } = (own ?? {}) as Partial<EventMeta>
  return JSON.stringify({
    ...(own ?? { text: meta }),
    id,
    hash,
    ...(typeof trace === 'string' ? { $correlationId: trace } : {}),
    ...(typeof cause === 'string' ? { $causationId: cause } : {})
  })
}

/** The value of a JSON text that would be written just so again; undefined for any other text. */
function canonical(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && JSON.stringify(value) === text ? value : undefined
  } catch {
    return undefined
  }
}

/** Our event in a record of the server, its stream without the prefix; null when somebody else wrote it. */
export function decodeEvent(record: ServerEvent, prefix: string): StoredEvent | null {
  const { metadata, data, type } = record
  if (!isObject(metadata) || metadata instanceof Uint8Array) return null
  const { id, hash, text, $correlationId, $causationId, ...own } = metadata as Record<string, unknown>
  if (typeof id !== 'string' || typeof hash !== 'string') return null
  return {
    stream: record.streamId.slice(prefix.length),
    revision: Number(record.revision),
    hash,
    position: positionOf(record),
    event: {
      id,
      type,
      body: data instanceof Uint8Array ? new TextDecoder().decode(data) : JSON.stringify(data),
      meta: typeof text === 'string' ? text : JSON.stringify(own)
    }
  }
}

/** In answers that carry no position the server writes the largest number instead. */
export function positionOf({ position }: ServerEvent): Position {
  const commit = Number(position?.commit ?? 0n)
  return Number.isSafeInteger(commit) ? commit : 0
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
