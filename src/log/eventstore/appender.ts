import type { AppendRequest } from '../append-request.ts'
import type { Clock } from '../clock.ts'
import { NO_HASH } from '../hash-chain.ts'
import type { AppendResult, Invalid, NewEvent, Position } from '../port.ts'
import { LogUnavailable, NO_STREAM } from '../port.ts'
import type { Connection, Written } from './connection.ts'
import { failureOf } from './errors.ts'
import type { Heads } from './heads.ts'
import { hasIds } from './heads.ts'
import type { Budget } from './retry.ts'
import { createBudget, refused } from './retry.ts'
import type { Chained, StoredEvent } from './wire-event.ts'
import { chainEvents } from './wire-event.ts'

export type AppenderOptions = {
  readonly connection: Connection
  readonly heads: Heads
  readonly clock: Clock
  /** How long one append may go on, with all its repetitions. */
  readonly budgetMs: number
  /** The first events of a stream were written; a single one stands at this position. */
  readonly onFirst: (stream: string, position: Position) => void
}

/** Events that are read beyond the place of a conflict, in the hope that they reach the stream's end. */
const LOOK_AHEAD = 16
const OVERSIZE: Invalid = { kind: 'invalid', reason: 'the append is larger than EventStoreDB takes' }

/**
 * Appends one request, which is right in itself, with no other append to its stream under way in this process.
 * An append whose outcome is unknown is looked for in the stream before it is repeated, with the same bytes.
 */
export function createAppender(options: AppenderOptions): (request: AppendRequest) => Promise<AppendResult> {
  const { connection, heads, clock, budgetMs, onFirst } = options

  /** Sends until the outcome is known. `null`: something else stands there. */
  async function send(
    request: AppendRequest,
    chained: Chained,
    budget: Budget
  ): Promise<Written | AppendResult | null> {
    const { stream, expected } = request
    for (;;) {
      try {
        return await connection.append(stream, expected, chained.events)
      } catch (error) {
        heads.forget(stream)
        const failure = failureOf(error)
        if (failure.kind === 'conflict') return null
        if (failure.kind === 'deleted') return { kind: 'deleted' }
        if (failure.kind === 'oversize') return OVERSIZE
        if (failure.kind === 'refused') throw refused(error)
        if (failure.kind !== 'unknown') throw error
        if (!(await budget.wait()))
          throw new LogUnavailable(`EventStoreDB does not say whether it has appended (${failure.reason})`)
        const standing = await heads.standing(stream, expected + 1, request.events.length, budget)
        if (standing === null) return { kind: 'deleted' }
        // When it is ours, the server answers the repetition with the first position; what is another's stays.
        if (standing.length > 0 && standing.at(-1)?.hash !== chained.hash) return null
      }
    }
  }

  function written(request: AppendRequest, chained: Chained, { position, revision }: Written): void {
    const { stream, expected, events } = request
    if (revision !== chained.revision || position === 0)
      throw new Error(`stream ${stream} does not go on where it ended: somebody has deleted it outside of this log`)
    heads.keep(stream, chained)
    if (expected === NO_STREAM && events.length === 1) onFirst(stream, position)
  }

  async function append(request: AppendRequest): Promise<AppendResult> {
    const { stream, expected, events } = request
    const budget = createBudget(clock, budgetMs)
    const head = await heads.at(stream, expected, budget)
    if (head === null) return { kind: 'deleted' }
    if (head.revision !== expected) return settle(request, budget)
    const chained = chainEvents(stream, head.hash, expected, events)
    const outcome = await send(request, chained, budget)
    if (outcome === null) return settle(request, budget)
    if ('kind' in outcome) return outcome
    written(request, chained, outcome)
    return { kind: 'appended', ...outcome, repeated: false }
  }

  /** The stream does not end where the append expected it to: it is a conflict, unless these very events stand there. */
  async function settle(request: AppendRequest, budget: Budget): Promise<AppendResult> {
    const { stream, expected, events } = request
    const before = expected === NO_STREAM ? 0 : 1
    const limit = events.length + before + LOOK_AHEAD
    const standing = await heads.standing(stream, Math.max(expected, 0), limit, budget)
    if (standing === null) return { kind: 'deleted' }
    // A page that is not full ends where the stream does.
    const last = standing.length < limit ? standing.at(-1) : undefined
    const newest = last ?? (await heads.newest(stream, budget))
    if (newest === null) return { kind: 'deleted' }
    heads.keep(stream, newest)
    const previous = before === 0 ? NO_HASH : standing[0]?.hash
    const place = standing.slice(before, before + events.length)
    if (previous === undefined || !hasIds(place, events)) return { kind: 'conflict', revision: newest.revision }
    return repeat(request, previous, place, budget)
  }

  /** The server tells the position of what stands there when it is sent once more. */
  async function repeat(
    request: AppendRequest,
    previous: string,
    place: readonly StoredEvent[],
    budget: Budget
  ): Promise<AppendResult> {
    const chained = chainEvents(request.stream, previous, request.expected, request.events)
    if (place.at(-1)?.hash !== chained.hash)
      return { kind: 'invalid', reason: 'an event with this id stands there already, with another content' }
    const outcome = await send(request, chained, budget)
    if (outcome === null) throw new LogUnavailable('EventStoreDB contradicts itself about a repeated append')
    if ('kind' in outcome) return outcome
    heads.forget(request.stream)
    return { kind: 'appended', ...outcome, repeated: true }
  }

  return append
}

/** Characters of event text, for the limit of what may wait. */
export function textOf(events: readonly NewEvent[]): number {
  let size = 0
  for (const { body, meta } of events) size += body.length + meta.length
  return size
}
