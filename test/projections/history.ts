/** A log in memory: events as the log would hand them out, with page reads. */
import { createHash } from 'node:crypto'
import type { Event } from '../../src/domain/event.ts'
import { type IdPrefix, timeOrderedId } from '../../src/domain/ids.ts'
import type { EventMeta, RecordedEvent } from '../../src/log/port.ts'

export type Context = { readonly tenant?: string | null; readonly source?: string; readonly trace?: string }
export type History = {
  readonly events: readonly RecordedEvent[]
  append(stream: string, events: readonly Event[], context?: Context): readonly RecordedEvent[]
  readPage(after: number, limit: number): readonly RecordedEvent[]
  messageNoOf(messageId: string): number | null
}

export const LOG_ID = 'log-under-test'
export const TENANT = 'tn_00000000000000000000000000'
const START_MS = Date.parse('2026-01-05T08:00:00.000Z')

/** The moment `seconds` after the history begins. */
export const at = (seconds: number): string => new Date(START_MS + seconds * 1000).toISOString()

export function idOf(prefix: IdPrefix, name: string): string {
  return timeOrderedId(prefix, START_MS, createHash('sha256').update(name).digest())
}

export function createHistory(): History {
  const events: RecordedEvent[] = []
  const numbers = new Map<string, number>()
  const revisions = new Map<string, number>()

  function append(stream: string, added: readonly Event[], context: Context = {}): readonly RecordedEvent[] {
    const streamNo = numbers.get(stream) ?? numbers.size + 1
    numbers.set(stream, streamNo)
    return added.map(event => {
      const revision = (revisions.get(stream) ?? -1) + 1
      revisions.set(stream, revision)
      const position = events.length + 1
      const recorded: RecordedEvent = {
        position,
        stream,
        streamNo,
        revision,
        id: timeOrderedId('evt', Date.parse(event.at), createHash('sha256').update(`${position}`).digest()),
        type: event.type,
        body: JSON.stringify({ v: 1, data: event.data }),
        meta: JSON.stringify(metaOf(event, context)),
        hash: ''
      }
      events.push(recorded)
      return recorded
    })
  }

  return {
    events,
    append,
    readPage: (after, limit) => events.slice(after, after + limit),
    messageNoOf: messageId => numbers.get(`message-${messageId}`) ?? null
  }
}

function metaOf(event: Event, { tenant = TENANT, source = 'api', trace = 'tr_trace' }: Context): EventMeta {
  return {
    tenant,
    trace,
    cause: null,
    source,
    at: event.at,
    ...(event.providerAt === undefined ? {} : { providerAt: event.providerAt })
  }
}
