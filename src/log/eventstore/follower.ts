import type { ResolvedEvent } from '@eventstore/db-client'
import type { Clock } from '../clock.ts'
import type { Follower, Position, RecordedEvent } from '../port.ts'
import type { Connection } from './connection.ts'
import { CallTimeout } from './errors.ts'
import { numbered } from './numbered.ts'
import type { Numbers } from './numbers.ts'
import { positionOf } from './wire-event.ts'

export const PAGE_EVENTS = 500
/** A page that its handler did not take is given again after this time, for as long as it takes. */
const HANDLER_RETRY_MS = 1_000
const FIRST_RETURN_MS = 50
const LONGEST_RETURN_MS = 2_000

export type FollowOptions = {
  readonly connection: Connection
  readonly numbers: Numbers
  readonly prefix: string
  readonly clock: Clock
  readonly deadlineMs: number
  readonly after: Position
  readonly onPage: (page: readonly RecordedEvent[]) => Promise<void> | void
  /** Hears of a lost subscription and of a page that its handler did not take; both are tried again. */
  readonly onProblem: (error: unknown) => void
}

/**
 * Follows our events with a subscription that begins anew, after the last event that was handled, whenever it is lost.
 * The server's checkpoints are not used: some versions send them out of order. While a page is handled nothing is read,
 * and the flow control of the connection holds the server back.
 */
export function createFollower(options: FollowOptions): Follower {
  const { connection, numbers, prefix, clock, deadlineMs, after, onPage, onProblem } = options
  // Numbers are given in log order without a gap, even when the caller has seen a part of it before.
  let position = Math.min(after, numbers.reach())
  let open = true
  let endPause = (): void => {}
  let endReading = (): void => {}
  let delayMs = FIRST_RETURN_MS

  /** Hands a page on; what the caller has seen already, and what was erased, only counts. */
  async function handle(events: readonly ResolvedEvent[]): Promise<void> {
    const to = lastOf(events, position)
    const records = events.flatMap(({ event }) => event ?? [])
    const page = numbered(records, { numbers, prefix, from: position, to }).filter(event => event.position > after)
    for (let isDone = page.length === 0; !isDone && open; ) {
      try {
        await onPage(page)
        isDone = true
      } catch (error) {
        onProblem(error)
        await interruptible(HANDLER_RETRY_MS)
      }
    }
    position = to
    delayMs = FIRST_RETURN_MS
  }

  async function followOnce(): Promise<void> {
    const events = pull(connection.subscribe(position, PAGE_EVENTS), clock, deadlineMs)
    endReading = events.stop
    try {
      while (open) {
        const page = await events.next()
        if (page === null) return
        await handle(page)
        await new Promise(setImmediate)
      }
    } finally {
      events.stop()
    }
  }

  function interruptible(waitMs: number): Promise<void> {
    return new Promise(resolve => {
      const cancel = clock.after(waitMs, resolve)
      endPause = () => {
        cancel()
        resolve()
      }
    })
  }

  async function run(): Promise<void> {
    // The caller holds its follower before the first page comes.
    await Promise.resolve()
    while (open) {
      try {
        await followOnce()
      } catch (error) {
        if (!open) return
        onProblem(error)
        await interruptible(delayMs)
        delayMs = Math.min(delayMs * 2, LONGEST_RETURN_MS)
      }
    }
  }

  const done = run()
  return {
    close() {
      open = false
      endPause()
      endReading()
      return done
    }
  }
}

const lastOf = (events: readonly ResolvedEvent[], otherwise: Position): Position => {
  const last = events.at(-1)?.event
  return last ? positionOf(last) : otherwise
}

type Pulled = {
  /** What has come, at least one event; null after `stop`. Rejects when the subscription is lost. */
  next(): Promise<readonly ResolvedEvent[] | null>
  stop(): void
}

/** Reads a subscription page by page. It reports its loss once, as an error, and never ends by itself. */
function pull(subscription: ReturnType<Connection['subscribe']>, clock: Clock, deadlineMs: number): Pulled {
  let lost: Error | null = null
  let isStopped = false
  let wake = (): void => {}

  const lose = (error: Error): void => {
    lost ??= error
    wake()
  }
  const unconfirmed = clock.after(deadlineMs, () => lose(new CallTimeout(`no subscription within ${deadlineMs} ms`)))
  subscription.on('confirmation', unconfirmed)
  subscription.on('error', lose)
  subscription.on('end', () => lose(new Error('the server has ended the subscription')))
  subscription.on('close', () => lose(new Error('the subscription was closed')))
  subscription.on('readable', () => wake())

  function read(): ResolvedEvent[] {
    const events: ResolvedEvent[] = []
    while (events.length < PAGE_EVENTS) {
      const event: ResolvedEvent | null = subscription.read()
      if (event === null) break
      events.push(event)
    }
    return events
  }

  return {
    async next() {
      for (;;) {
        if (isStopped) return null
        const events = read()
        if (events.length > 0) return events
        if (lost) throw lost
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    },
    stop() {
      if (isStopped) return
      isStopped = true
      unconfirmed()
      wake()
      void subscription.unsubscribe().catch(() => undefined)
    }
  }
}
