/**
 * The queue of one number: messages start in the order of admission, some at a time, one at a time per recipient,
 * each with a token of the number's bucket. The rows are the queue; this holds only what is in hand.
 */
import type { QueueRow } from '../projections/port.ts'
import { alarm, type Clock } from './clock.ts'
import type { TokenBucket } from './token-bucket.ts'

export type LaneOptions = {
  readonly channelId: string
  readonly clock: Clock
  readonly bucket: TokenBucket
  readonly concurrency: number
  /** Rows admitted after a position, in order. */
  readonly next: (afterPosition: number, limit: number) => readonly QueueRow[]
  readonly retries: (limit: number) => readonly QueueRow[]
  /** When the next waiting retry is due. */
  readonly nextRetry: () => string | null
  /** From when on the number can send: now or a later moment; null when only an event can tell. */
  readonly opensAt: () => Promise<string | null>
  /** Does one dispatch from start to record. `spent`: the provider was called, the token is gone. */
  readonly dispatch: (row: QueueRow) => Promise<{ spent: boolean; position: number | null }>
  readonly viewPosition: () => number
}

export type Lane = {
  /** Something changed: look again. */
  pump(): Promise<void>
  readonly busy: () => number
  stop(): void
}

/** Rows read ahead; those whose recipient is busy wait here, so a stubborn one delays only its own. */
const AHEAD_MAX = 1_024
const PAGE = 64
/** A retry that the view still lists although it was just taken is looked at again after this. */
const STALE_MS = 50

export function createLane(options: LaneOptions): Lane {
  const { clock, bucket, concurrency } = options
  /** Rows in hand that wait for their turn, in order. */
  let ahead: QueueRow[] = []
  let cursor = 0
  let exhausted = false
  const busyContacts = new Set<string>()
  const inHand = new Map<string, number>()
  let inFlight = 0
  let stopped = false
  const timer = alarm(clock, () => void pump())

  function refill(): void {
    const page = options.next(cursor, PAGE)
    exhausted = page.length < PAGE
    const last = page.at(-1)
    if (last) cursor = last.position
    ahead.push(...page)
  }

  /** A due retry goes before what was admitted after it; one that is in hand already is not taken twice. */
  function takeRetries(): QueueRow[] {
    // Only here can the view be behind what was done: a retry stays listed until its new attempt is folded in.
    const seen = options.viewPosition()
    for (const [messageId, position] of inHand) if (position > 0 && position <= seen) inHand.delete(messageId)
    return options.retries(PAGE).filter(row => !inHand.has(row.messageId) && !busyContacts.has(row.contactId))
  }

  function takeNext(): QueueRow | null {
    for (;;) {
      const index = ahead.findIndex(row => !busyContacts.has(row.contactId))
      if (index >= 0) return ahead.splice(index, 1)[0] ?? null
      if (exhausted || ahead.length >= AHEAD_MAX) return null
      refill()
    }
  }

  function start(row: QueueRow): void {
    inFlight++
    busyContacts.add(row.contactId)
    inHand.set(row.messageId, 0)
    options
      .dispatch(row)
      .then(done => {
        if (!done.spent) bucket.giveBack()
        if (done.position === null) inHand.delete(row.messageId)
        else inHand.set(row.messageId, done.position)
      })
      .catch(() => inHand.delete(row.messageId))
      .finally(() => {
        inFlight--
        busyContacts.delete(row.contactId)
        if (!stopped) void pump()
      })
  }

  let pumping = false
  let again = false

  async function pump(): Promise<void> {
    exhausted = false
    if (pumping) {
      again = true
      return
    }
    pumping = true
    do {
      again = false
      const opensAt = inFlight < concurrency ? await options.opensAt() : null
      if (opensAt !== null && Date.parse(opensAt) > clock.now()) timer.at(Date.parse(opensAt))
      else if (opensAt !== null) fillSlots()
    } while (again && !stopped)
    pumping = false
  }

  function fillSlots(): void {
    const retries = takeRetries()
    while (inFlight < concurrency && !stopped) {
      const row = retries.shift() ?? takeNext()
      if (!row) break
      if (busyContacts.has(row.contactId)) continue
      if (!bucket.take()) {
        if (row.state === 'queued') ahead.unshift(row)
        timer.at(clock.now() + bucket.waitMs())
        return
      }
      start(row)
    }
    const next = options.nextRetry()
    if (next !== null) timer.at(Math.max(Date.parse(next), clock.now() + STALE_MS))
  }

  return {
    pump,
    busy: () => inFlight,
    stop() {
      stopped = true
      timer.clear()
      ahead = []
    }
  }
}
