import type { RecordedEvent as ServerEvent } from '@eventstore/db-client'
import { systemClock } from '../clock.ts'
import type { Position } from '../port.ts'
import type { FoundEvent, VerifySource } from '../verify-source.ts'
import type { Connection } from './connection.ts'
import { connect } from './connection.ts'
import { createBudget, repeatedly } from './retry.ts'
import { decodeEvent, positionOf } from './wire-event.ts'

const PAGE_EVENTS = 500
const DEADLINE_MS = 10_000
const BUDGET_MS = 30_000

export type EventStoreVerifyOptions = {
  readonly url: string
  readonly streamPrefix?: string
}

/**
 * The log on EventStoreDB for `log verify` and `export`: it reads `$all` in order and changes nothing. The server keeps
 * no books of ours, and a scavenge takes the events of erased streams away, so only chains and anchors can tell.
 * Throws EventStoreStartError when the connection string is wrong.
 */
export function openEventStoreVerifySource({ url, streamPrefix: prefix = '' }: EventStoreVerifyOptions): VerifySource {
  const connection = connect({ url, prefix, deadlineMs: DEADLINE_MS, clock: systemClock })
  return {
    dense: false,
    highest: () => null,
    events: (after, stream) => inLogOrder(connection, prefix, after, stream),
    streams: () => [],
    // Reading goes on to what was the end when it was reached; there is nothing to compare it with.
    freeze() {},
    complaints: () => [],
    close: () => void connection.close()
  }
}

async function* inLogOrder(
  connection: Connection,
  prefix: string,
  after: Position,
  stream: string | undefined
): AsyncGenerator<FoundEvent[]> {
  const firsts = new Map<string, Position>()
  let from: Position | 'start' = after > 0 ? after : 'start'
  for (;;) {
    const start: Position | 'start' = from
    const read = await repeatedly(createBudget(systemClock, BUDGET_MS), () =>
      connection.readAll(start, false, PAGE_EVENTS)
    )
    // Reading forwards includes the position that it begins at.
    const records = read.flatMap(({ event }) => (event && positionOf(event) !== from ? [event] : []))
    const page = records.filter(record => isOurs(record, prefix, stream)).map(record => found(record, prefix, firsts))
    if (page.length > 0) yield page
    const last = records.at(-1)
    if (!last || read.length < PAGE_EVENTS) return
    from = positionOf(last)
  }
}

function isOurs({ streamId, type }: ServerEvent, prefix: string, stream: string | undefined): boolean {
  if (streamId.startsWith('$') || type.startsWith('$') || !streamId.startsWith(prefix)) return false
  return stream === undefined || streamId === prefix + stream
}

/** An event that somebody else put into one of our streams has no hash of ours: the verification then names it. */
function found(record: ServerEvent, prefix: string, firsts: Map<string, Position>): FoundEvent {
  const stream = record.streamId.slice(prefix.length)
  const position = positionOf(record)
  const streamNo = firsts.get(stream) ?? position
  firsts.set(stream, streamNo)
  const stored = decodeEvent(record, prefix)
  const { hash = '', event = { id: record.id, type: record.type, body: '', meta: '' } } = stored ?? {}
  return { position, streamNo, revision: Number(record.revision), hash, content: { ...event, stream } }
}
