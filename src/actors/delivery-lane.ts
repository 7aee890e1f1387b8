/**
 * The outbox of one destination. Deliveries of one message start in order on their first attempt; everything else is
 * side by side, within this destination's own limit, so that one that hangs delays nobody else.
 */
import type { DeliveryRow } from '../projections/port.ts'
import { alarm, type Clock } from './clock.ts'

export type DeliveryLaneOptions = {
  readonly clock: Clock
  readonly concurrency: number
  readonly next: (afterSeq: number, limit: number) => readonly DeliveryRow[]
  readonly retries: (limit: number) => readonly DeliveryRow[]
  readonly nextRetry: () => string | null
  /**
   * Posts and records; resolves with the position of the outcome. `answered`: the receiver is done with it. Rejects when it
   * could not even begin, or nobody knows what was recorded: the delivery then stays in hand.
   */
  readonly deliver: (row: DeliveryRow, answered: () => void) => Promise<number>
  readonly onCrash: (error: unknown) => void
  readonly viewPosition: () => number
}
export type DeliveryLane = { pump(): void; stop(): void }

const PAGE = 128
const AHEAD_MAX = 1_024
/** Answered, but the outcome is not on record yet, or not seen by the view; beyond it the receiver has to wait. */
const UNSEEN_MAX = 4_096
/** A retry that the view still lists although it was just done is looked at again after this. */
const STALE_MS = 50
/** After a delivery that could not begin, for instance because the log cannot be read. */
const CRASH_WAIT_MS = 1_000

export function createDeliveryLane(options: DeliveryLaneOptions): DeliveryLane {
  const { clock, concurrency } = options
  let ahead: DeliveryRow[] = []
  let cursor = 0
  /** Position of the views at which there was nothing more to read: before they move there is nothing new. */
  let exhaustedAt: number | null = null
  let inFlight = 0
  let stopped = false
  const busyStreams = new Set<number>()
  /** Delivery → position of its outcome, 0 while under way. */
  const inHand = new Map<string, number>()
  const timer = alarm(clock, pump)

  function forgetSeen(): void {
    const seen = options.viewPosition()
    for (const [id, position] of inHand) if (position > 0 && position <= seen) inHand.delete(id)
  }

  function takeNext(): DeliveryRow | null {
    for (;;) {
      const index = ahead.findIndex(row => !busyStreams.has(row.streamNo))
      if (index >= 0) return ahead.splice(index, 1)[0] ?? null
      const position = options.viewPosition()
      if (exhaustedAt === position || ahead.length >= AHEAD_MAX) return null
      const page = options.next(cursor, PAGE)
      exhaustedAt = page.length < PAGE ? position : null
      const last = page.at(-1)
      if (!last) return null
      cursor = last.seq
      ahead.push(...page)
    }
  }

  /** The receiver's place is free when it has answered; that its answer is recorded takes a commit, and holds up nobody. */
  function start(row: DeliveryRow, first: boolean): void {
    inFlight++
    if (first) busyStreams.add(row.streamNo)
    inHand.set(row.id, 0)
    let hasLeft = false
    const leave = (): void => {
      if (hasLeft) return
      hasLeft = true
      inFlight--
      if (first) busyStreams.delete(row.streamNo)
      pump()
    }
    options.deliver(row, leave).then(
      position => {
        inHand.set(row.id, position)
        leave()
      },
      error => {
        options.onCrash(error)
        clock.after(CRASH_WAIT_MS, () => {
          inHand.delete(row.id)
          // It is listed before the cursor, where nobody looks again; those after it in its stream have waited.
          if (first && !stopped) ahead.unshift(row)
          if (hasLeft) pump()
          else leave()
        })
      }
    )
  }

  function pump(): void {
    if (stopped) return
    forgetSeen()
    const next = options.nextRetry()
    const isDue = next !== null && Date.parse(next) <= clock.now()
    const retries = isDue ? options.retries(PAGE).filter(row => !inHand.has(row.id)) : []
    while (inFlight < concurrency && inHand.size < UNSEEN_MAX) {
      const retry = retries.shift()
      const row = retry ?? takeNext()
      if (!row) break
      if (!inHand.has(row.id)) start(row, retry === undefined)
    }
    if (next !== null) timer.at(Math.max(Date.parse(next), clock.now() + STALE_MS))
  }

  return {
    pump,
    stop() {
      stopped = true
      timer.clear()
      ahead = []
    }
  }
}
