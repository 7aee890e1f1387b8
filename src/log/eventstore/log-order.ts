import type { RecordedEvent as ServerEvent } from '@eventstore/db-client'
import type { Clock } from '../clock.ts'
import type { Position } from '../port.ts'
import type { Connection } from './connection.ts'
import { createBudget, repeatedly } from './retry.ts'
import { positionOf } from './wire-event.ts'

const PAGE_RECORDS = 500

export type LogOrder = {
  readonly connection: Connection
  readonly prefix: string
  readonly clock: Clock
  /** Of each page, with its repetitions. */
  readonly budgetMs: number
}

/**
 * The records of our streams in log order after a position, tombstones included, to what was the end when it was reached.
 * Pages may be empty: the server's log holds others' records too. Rejects with LogUnavailable.
 */
export async function* inLogOrder(order: LogOrder, after: Position): AsyncGenerator<readonly ServerEvent[]> {
  const { connection, prefix, clock, budgetMs } = order
  let from: Position | 'start' = after > 0 ? after : 'start'
  for (;;) {
    const start: Position | 'start' = from
    const read = await repeatedly(createBudget(clock, budgetMs), () => connection.readAll(start, false, PAGE_RECORDS))
    // Reading forwards includes the position that it begins at.
    const records = read.flatMap(({ event }) => (event && positionOf(event) !== from ? [event] : []))
    yield records.filter(({ streamId }) => streamId.startsWith(prefix) && !streamId.startsWith('$'))
    const last = records.at(-1)
    if (!last || read.length < PAGE_RECORDS) return
    from = positionOf(last)
  }
}
