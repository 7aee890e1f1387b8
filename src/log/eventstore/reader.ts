import type { RecordedEvent as ServerEvent } from '@eventstore/db-client'
import type { Clock } from '../clock.ts'
import { isKeyStream } from '../key-streams.ts'
import type { Position, ReadOptions, RecordedEvent } from '../port.ts'
import type { Connection } from './connection.ts'
import { failureOf } from './errors.ts'
import { inLogOrder } from './log-order.ts'
import { numbered } from './numbered.ts'
import type { Numbers } from './numbers.ts'
import type { AnchoredHash } from './recent-hashes.ts'
import { createBudget, repeatedly } from './retry.ts'
import { createTurns } from './turns.ts'
import type { StoredEvent } from './wire-event.ts'
import { decodeEvent, positionOf } from './wire-event.ts'

const PAGE_EVENTS = 500
const MAX_READS_AT_ONCE = 64
const MAX_READS_WAITING = 10_000

export type ReaderOptions = {
  readonly connection: Connection
  readonly numbers: Numbers
  readonly prefix: string
  readonly clock: Clock
  readonly budgetMs: number
}

/** What is read besides following. Rejects with LogUnavailable when the server does not answer in the budget. */
export type Reader = {
  stream(name: string, options?: ReadOptions): AsyncGenerator<RecordedEvent>
  at(position: Position): Promise<RecordedEvent | null>
  /** Hashes in log order after a position, without key streams; empty only at the end of the log. */
  hashes(after: Position, limit: number): Promise<readonly AnchoredHash[]>
  /** The next events in log order; empty only at the end of the log. To be read from the log's beginning on. */
  page(after: Position, limit: number): Promise<readonly RecordedEvent[]>
}

export function createReader(options: ReaderOptions): Reader {
  const { connection, numbers, prefix, clock, budgetMs } = options
  const turns = createTurns({
    clock,
    width: MAX_READS_AT_ONCE,
    queueMax: MAX_READS_WAITING,
    textMax: Number.POSITIVE_INFINITY,
    waitMs: budgetMs
  })
  let reads = 0

  const inTurn = <T>(call: () => Promise<T>): Promise<T> =>
    turns.run({ stream: String(reads++), size: 0, isBulk: false }, () =>
      repeatedly(createBudget(clock, budgetMs), call)
    )

  const recorded = (stored: StoredEvent): RecordedEvent => {
    const { event, position, stream, revision, hash } = stored
    return { ...event, position, stream, streamNo: numbers.find(stream) ?? 0, revision, hash }
  }

  async function page(name: string, from: number | 'end', backwards: boolean, limit: number): Promise<RecordedEvent[]> {
    try {
      const found = await inTurn(() => connection.readStream(name, { from, backwards, limit }))
      return found.map(({ event }) => {
        const stored = event && decodeEvent(event, prefix)
        if (!stored) throw new Error(`stream ${name} holds an event that this log did not write`)
        return recorded(stored)
      })
    } catch (error) {
      const { kind } = failureOf(error)
      if (kind === 'missing' || kind === 'deleted') return []
      throw error
    }
  }

  return {
    async *stream(name, options = {}) {
      const backwards = options.direction === 'backwards'
      let from: number | 'end' = options.from ?? (backwards ? 'end' : 0)
      for (let left = options.limit ?? Number.POSITIVE_INFINITY; left > 0; ) {
        const limit = Math.min(left, PAGE_EVENTS)
        const events: RecordedEvent[] = await page(name, from, backwards, limit)
        yield* events
        const last = events.at(-1)
        left -= events.length
        if (!last || events.length < limit || (backwards && last.revision === 0)) return
        from = last.revision + (backwards ? -1 : 1)
      }
    },
    async hashes(after, limit) {
      const found: AnchoredHash[] = []
      for await (const records of inLogOrder(options, after)) {
        found.push(...records.flatMap(record => anchored(record, prefix)))
        if (found.length >= limit) break
      }
      return found.slice(0, limit)
    },
    async page(after, limit) {
      const found: RecordedEvent[] = []
      let from = after
      for await (const records of inLogOrder(options, after)) {
        const to = records.at(-1)
        if (to) found.push(...numbered(records, { numbers, prefix, from, to: positionOf(to) }))
        if (to) from = positionOf(to)
        if (found.length >= limit) break
      }
      return found
    },
    async at(position) {
      if (!Number.isSafeInteger(position) || position <= 0) return null
      const found = await inTurn(() => readAt(connection, position))
      const stored =
        found && !found.type.startsWith('$') && found.streamId.startsWith(prefix) ? decodeEvent(found, prefix) : null
      return stored && !numbers.isErased(stored.stream) ? recorded(stored) : null
    }
  }
}

/** What anchors cover of a record: nothing of key streams, which a scavenge takes away for good. */
function anchored(record: ServerEvent, prefix: string): AnchoredHash[] {
  const stored = record.type.startsWith('$') ? null : decodeEvent(record, prefix)
  return !stored || isKeyStream(stored.stream)
    ? []
    : [{ position: stored.position, hash: stored.hash, stream: stored.stream }]
}

const NO_SUCH_POSITION = /ReadAllResult|invalid position/i

/** The record that begins at a position; null when none does. */
async function readAt(connection: Connection, position: Position) {
  try {
    const [found] = await connection.readAll(position, false, 1)
    return found?.event && positionOf(found.event) === position ? found.event : null
  } catch (error) {
    // In the middle of a record servers find no position, and say so in their own ways; other errors may pass.
    if (error instanceof Error && NO_SUCH_POSITION.test(error.message)) return null
    throw error
  }
}
