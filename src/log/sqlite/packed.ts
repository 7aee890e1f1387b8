/**
 * Appends and their answers as they travel between threads: flat lists instead of objects, whose member names would be
 * written, read and looked up again for each of thousands.
 */
import type { AppendRequest } from '../append-request.ts'
import type { NewEvent } from '../port.ts'
import type { Answer } from './protocol.ts'

/** Stream, expected revision, is it bulk; stream and event id of the need, is that bulk; then four texts an event. */
export type PackedRequest = readonly Item[]
/** Position and revision of what was appended; everything else travels as it is. */
export type PackedAnswer = readonly [position: number, revision: number] | Answer

type Item = string | number | boolean | null
/** `needed`: null when nothing is. */
type Head = [
  stream: string,
  expected: number,
  isBulk: boolean,
  needed: string | null,
  eventId: string,
  isNeedBulk: boolean
]

const FIRST_EVENT = 6
const TEXTS_OF_EVENT = 4

export function packRequest({ stream, expected, events, need, isBulk = false }: AppendRequest): PackedRequest {
  const head: Head = [stream, expected, isBulk, need?.stream ?? null, need?.eventId ?? '', need?.isBulk ?? false]
  const packed: Item[] = head
  for (const { id, type, body, meta } of events) packed.push(id, type, body, meta)
  return packed
}

export function unpackRequest(packed: PackedRequest): AppendRequest {
  const [stream, expected, isBulk, needed, eventId, isNeedBulk] = packed as Head
  const texts = packed as readonly string[]
  const events: NewEvent[] = []
  for (let at = FIRST_EVENT; at < texts.length; at += TEXTS_OF_EVENT) {
    const [id = '', type = '', body = '', meta = ''] = [texts[at], texts[at + 1], texts[at + 2], texts[at + 3]]
    events.push({ id, type, body, meta })
  }
  const need = needed === null ? undefined : { stream: needed, eventId, isBulk: isNeedBulk }
  return { stream, expected, events, need, isBulk }
}

export const packAnswer = (answer: Answer): PackedAnswer =>
  answer.kind === 'appended' && !answer.repeated && !answer.first ? [answer.position, answer.revision] : answer

export function unpackAnswer(packed: PackedAnswer): Answer {
  if ('kind' in packed) return packed
  const [position, revision] = packed
  return { kind: 'appended', position, revision, repeated: false }
}
