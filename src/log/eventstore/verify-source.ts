import type { RecordedEvent as ServerEvent } from '@eventstore/db-client'
import { systemClock } from '../clock.ts'
import type { Position } from '../port.ts'
import type { FoundEvent, VerifySource } from '../verify-source.ts'
import { connect } from './connection.ts'
import { inLogOrder, type LogOrder } from './log-order.ts'
import { decodeEvent, positionOf } from './wire-event.ts'

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
  const order = { connection, prefix, clock: systemClock, budgetMs: BUDGET_MS }
  return {
    dense: false,
    anchorsCoverKeys: false,
    highest: () => null,
    events: (after, stream) => eventsOf(order, after, stream),
    streams: () => [],
    // Reading goes on to what was the end when it was reached; there is nothing to compare it with.
    freeze() {},
    complaints: () => [],
    close: () => void connection.close()
  }
}

async function* eventsOf(
  order: LogOrder,
  after: Position,
  stream: string | undefined
): AsyncGenerator<readonly FoundEvent[]> {
  const { prefix } = order
  const firsts = new Map<string, Position>()
  const isWanted = ({ streamId, type }: ServerEvent): boolean =>
    !type.startsWith('$') && (stream === undefined || streamId === prefix + stream)
  for await (const records of inLogOrder(order, after)) {
    const page = records.filter(isWanted).map(record => found(record, prefix, firsts))
    if (page.length > 0) yield page
  }
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
