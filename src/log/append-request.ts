import type { AppendOptions, Expected, Need, NewEvent } from './port.ts'
import { MAX_EVENT_BYTES, NO_STREAM } from './port.ts'

/** One append on its way to a home's writer. */
export type AppendRequest = {
  readonly stream: string
  readonly expected: Expected
  readonly events: readonly NewEvent[]
  readonly need?: Need | undefined
  readonly isBulk?: boolean
}

export const requestOf = (
  stream: string,
  expected: Expected,
  events: readonly NewEvent[],
  { need, isBulk = false }: AppendOptions = {}
): AppendRequest => ({ stream, expected, events, need, isBulk: isBulk || need?.isBulk === true })

export const MAX_EVENTS_PER_APPEND = 256
/** Of a stream name, an event id and an event type, in UTF-16 code units. */
export const MAX_NAME_LENGTH = 200
/** A UTF-16 code unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3

/** Why the append is wrong in itself, or null when it may be tried. */
export function problemOf({ stream, expected, events }: AppendRequest): string | null {
  if (!isName(stream)) return `a stream name has 1 to ${MAX_NAME_LENGTH} characters`
  if (!Number.isSafeInteger(expected) || expected < NO_STREAM) return 'the expected revision is not a revision'
  if (events.length === 0) return 'there is no event to append'
  if (events.length > MAX_EVENTS_PER_APPEND) return `at most ${MAX_EVENTS_PER_APPEND} events go into one append`
  for (const event of events) {
    const problem = eventProblem(event)
    if (problem) return problem
  }
  if (events.length > 1 && new Set(events.map(event => event.id)).size < events.length) return 'an event id repeats'
  return null
}

function eventProblem({ id, type, body, meta }: NewEvent): string | null {
  if (!isName(id) || !isName(type)) return `an event's id and type have 1 to ${MAX_NAME_LENGTH} characters`
  if (body === '' || meta === '') return 'an event has a body and metadata'
  if ((body.length + meta.length) * MAX_BYTES_PER_UNIT <= MAX_EVENT_BYTES) return null
  if (body.length + meta.length > MAX_EVENT_BYTES) return oversize
  return Buffer.byteLength(body) + Buffer.byteLength(meta) > MAX_EVENT_BYTES ? oversize : null
}

const oversize = `an event has at most ${MAX_EVENT_BYTES} bytes`

const isName = (text: string): boolean => text.length > 0 && text.length <= MAX_NAME_LENGTH
