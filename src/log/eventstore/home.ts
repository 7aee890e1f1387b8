import { randomUUID } from 'node:crypto'
import { type AppendRequest, problemOf, requestOf } from '../append-request.ts'
import type { Clock } from '../clock.ts'
import { systemClock } from '../clock.ts'
import type { EventVersion } from '../event-versions.ts'
import type { AppendResult, EventLog, Follower, Position, RecordedEvent } from '../port.ts'
import { LogUnavailable } from '../port.ts'
import { createAppender, textOf } from './appender.ts'
import type { Connection } from './connection.ts'
import { connect } from './connection.ts'
import { failureOf } from './errors.ts'
import { createFollower } from './follower.ts'
import { createHeads } from './heads.ts'
import { createVersionNotes, type LogNotes, logIdOf, readNotes } from './log-notes.ts'
import { openNumbers } from './numbers.ts'
import { createReader } from './reader.ts'
import type { AnchoredHash } from './recent-hashes.ts'
import type { Budget } from './retry.ts'
import { createBudget, repeatedly } from './retry.ts'
import { createServerWatch, type ServerWatch } from './server-watch.ts'
import { EventStoreStartError, hostsOf, startError } from './start-error.ts'
import { createTail } from './tail.ts'
import { createTurns } from './turns.ts'

/** Of a node, in all its threads together. */
export const MAX_APPENDS_AT_ONCE = 64
/** Of those, what is left to batches where they have a thread of their own. */
export const BATCH_APPENDS_AT_ONCE = 16
/** Appends that may wait for a turn; past it callers are refused, and should answer 503. */
export const MAX_APPENDS_WAITING = 10_000
/** The same in characters of event text. */
const MAX_TEXT_WAITING = 64 * 1024 * 1024
const DEADLINE_MS = 3_000
const BUDGET_MS = 6_000
const WAIT_MS = 5_000
const START_MS = 5_000

export type EventStoreLogOptions = {
  /** EVENTSTORE_URL: `esdb://…` or `esdb+discover://…`. */
  readonly url: string
  /** EVENTSTORE_STREAM_PREFIX: put before every stream name, and seen by nobody outside of this folder. */
  readonly streamPrefix?: string
  /** SQLite file of the streams' numbers, shared by the threads of a node. Default: in memory. */
  readonly numbersFile?: string
  /** How long the start tries to reach the server. */
  readonly startMs?: number
  /** Of each single call. */
  readonly deadlineMs?: number
  /** Of an append or a read with all its repetitions; then LogUnavailable. */
  readonly budgetMs?: number
  /** How long an append may wait for its turn; then LogUnavailable. */
  readonly waitMs?: number
  readonly maxWaiting?: number
  /** Appends in flight. Default: MAX_APPENDS_AT_ONCE. */
  readonly appendsAtOnce?: number
  /** Nothing is written: no log is begun where there is none, and appends are refused. */
  readonly readOnly?: boolean
  readonly clock?: Clock
  /** Hears of lost subscriptions and of pages that a follower did not take; both are tried again. */
  readonly onProblem?: (error: unknown) => void
}

export type EventStoreLog = EventLog & {
  /** The random id of the log, the same on every node: views of another log are thrown away by it. */
  readonly id: string
  /** Types and versions of the events that it held when it was opened. */
  readonly versions: readonly EventVersion[]
  /** Hashes in log order after a position, without key streams; empty only at the end of the log. */
  hashes(after: Position, limit: number): Promise<readonly AnchoredHash[]>
  /** The next events after a position in log order; empty only at the end of the log. To be read from the beginning on. */
  readPage(after: Position, limit: number): Promise<readonly RecordedEvent[]>
  /** Asks from now on whether the server answers, until the log is closed. */
  watch(): Pick<ServerWatch, 'trouble'>
}

/**
 * The event log on EventStoreDB, from 20.10 on. Positions are those of the server's log: they grow and have gaps. What
 * is read from one stream has position 0, since the server tells positions in `$all` only, and `streamNo` 0 until the
 * stream's number is known here. Rejects with EventStoreStartError when the server cannot be used, and with LogUnavailable when it is to be
 * read only and there is no log.
 */
export async function openEventStoreLog(options: EventStoreLogOptions): Promise<EventStoreLog> {
  const { url, streamPrefix = '', deadlineMs = DEADLINE_MS, startMs = START_MS, clock = systemClock } = options
  if (streamPrefix.startsWith('$'))
    throw new EventStoreStartError('settings', 'EVENTSTORE_STREAM_PREFIX begins with $, which is the server’s own')
  const connection = connect({ url, prefix: streamPrefix, deadlineMs, clock })
  const notes = await firstContact(connection, options, createBudget(clock, startMs))
  const log = createLog(connection, notes, options)
  const watches: ServerWatch[] = []
  return {
    ...log,
    ...notes,
    watch() {
      const watch = createServerWatch(connection, clock)
      watches.push(watch)
      return watch
    },
    close() {
      for (const watch of watches) watch.close()
      return log.close()
    }
  }
}

type Opened = LogNotes & { readonly id: string }

type Contact = Pick<EventStoreLogOptions, 'url' | 'readOnly'>

async function firstContact(connection: Connection, { url, readOnly }: Contact, budget: Budget): Promise<Opened> {
  for (;;) {
    try {
      // The log is read through `$all`, which a user may be forbidden although streams are not.
      await connection.readAll('end', true, 1)
      const { id, versions } = await readNotes(connection)
      if (id === null && readOnly) throw new LogUnavailable(`EventStoreDB at ${hostsOf(url)} ${NO_LOG}`)
      return { id: id ?? (await logIdOf(connection, randomUUID)), versions }
    } catch (error) {
      const reason = error instanceof LogUnavailable ? error : startError(error, url)
      if ('problem' in reason && reason.problem === 'unreachable' && (await budget.wait())) continue
      await connection.close()
      throw reason
    }
  }
}

const NO_LOG = 'holds no event log behind this EVENTSTORE_STREAM_PREFIX'

type Log = EventLog & Pick<EventStoreLog, 'hashes' | 'readPage'>

function createLog(connection: Connection, notes: Opened, options: EventStoreLogOptions): Log {
  const { streamPrefix: prefix = '', budgetMs = BUDGET_MS, clock = systemClock, onProblem = () => {} } = options
  const { deadlineMs = DEADLINE_MS, waitMs = WAIT_MS, maxWaiting = MAX_APPENDS_WAITING } = options
  const numbers = openNumbers(options.numbersFile ?? ':memory:', notes.id)
  const heads = createHeads(connection, prefix)
  const versions = createVersionNotes(connection, notes.versions)
  const tail = createTail(connection, numbers, prefix)
  const reader = createReader({ connection, numbers, prefix, clock, budgetMs })
  const appendOne = createAppender({ connection, heads, clock, budgetMs, onFirst: numbers.learn })
  const turns = createTurns({
    clock,
    width: options.appendsAtOnce ?? MAX_APPENDS_AT_ONCE,
    queueMax: maxWaiting,
    textMax: MAX_TEXT_WAITING,
    waitMs
  })
  const followers = new Set<Follower>()
  const appending = new Set<Promise<AppendResult>>()
  let closing: Promise<void> | null = null

  async function write(request: AppendRequest): Promise<AppendResult> {
    if (!versions.isNoted(request.events)) await versions.note(request.events, createBudget(clock, budgetMs))
    return appendOne(request)
  }

  async function bury(stream: string): Promise<void> {
    heads.forget(stream)
    try {
      await repeatedly(createBudget(clock, budgetMs), () => connection.tombstone(stream))
    } catch (error) {
      if (failureOf(error).kind !== 'deleted') throw error
    }
    numbers.bury(stream)
  }

  async function shut(): Promise<void> {
    await turns.idle()
    await Promise.all([...followers].map(follower => follower.close()))
    await connection.close()
    numbers.close()
  }

  const ensureOpen = (): void => {
    if (closing) throw new LogUnavailable('the event log is closed')
  }
  const ensureWritable = (): void => {
    ensureOpen()
    if (options.readOnly) throw new LogUnavailable('the event log was opened read-only')
  }

  async function append(...[stream, expected, events, options]: Parameters<EventLog['append']>): Promise<AppendResult> {
    ensureWritable()
    if (options?.need) throw new Error('this log keeps no order among appends')
    const request = requestOf(stream, expected, events, options)
    const reason = problemOf(request)
    if (reason) return { kind: 'invalid', reason }
    const result = await turns.run({ stream, size: textOf(events), isBulk: request.isBulk === true }, () =>
      write(request)
    )
    if (result.kind === 'appended') tail.saw(result.position)
    return result
  }

  return {
    append(stream, expected, events, options) {
      const appended = append(stream, expected, events, options)
      const over = (): boolean => appending.delete(appended)
      appending.add(appended)
      appended.then(over, over)
      return appended
    },
    async settled() {
      await Promise.allSettled(appending)
    },
    read: reader.stream,
    at: reader.at,
    hashes: reader.hashes,
    readPage: reader.page,
    follow(after, onPage) {
      ensureOpen()
      const follower = createFollower({ connection, numbers, prefix, clock, deadlineMs, after, onPage, onProblem })
      const close = (): Promise<void> => {
        followers.delete(tracked)
        return follower.close()
      }
      const tracked = { close }
      followers.add(tracked)
      return tracked
    },
    async erase(stream) {
      ensureWritable()
      await turns.run({ stream, size: 0, isBulk: false }, () => bury(stream))
    },
    head: () => tail.head(createBudget(clock, budgetMs)),
    numberOf: numbers.find,
    close() {
      closing ??= shut()
      return closing
    }
  }
}
