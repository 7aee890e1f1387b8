/**
 * The queue of one number: messages start in the order of admission, some at a time, one at a time per recipient,
 * each with a token of the number's bucket. The rows are the queue; this holds only what is in hand.
 */
import type { Bucket } from '../coordination/port.ts'
import type { QueueRow } from '../projections/port.ts'
import { alarm, type Clock } from './clock.ts'

export type LaneOptions = {
  readonly channelId: string
  readonly clock: Clock
  readonly bucket: Bucket
  readonly concurrency: number
  /** Rows admitted after a position, in order. */
  readonly next: (afterPosition: number, limit: number) => readonly QueueRow[]
  readonly retries: (limit: number) => readonly QueueRow[]
  /** When the next waiting retry is due. */
  readonly nextRetry: () => string | null
  /** From when on the number can send: now or a later moment; null when only an event can tell. */
  readonly opensAt: () => Promise<string | null>
  /** Does one dispatch from start to record. Rejects when it could not even begin: the message then stays in hand. */
  readonly dispatch: (row: QueueRow, turn: Turn) => Promise<Dispatched>
  readonly onCrash: (error: unknown) => void
  readonly viewPosition: () => number
}

/** `spent`: the provider was called, the token is gone. `position`: of what was recorded, null when nothing was. */
export type Dispatched = { readonly spent: boolean; readonly position: number | null }

/** Dispatches are prepared side by side and start one after the other, in the order of admission. */
export type Turn = { readonly come: Promise<void>; pass(): void }

export type Lane = {
  /** Something changed: look again. `hasNews`: in the view of the queue, so that its rows are worth reading again. */
  pump(hasNews?: boolean): Promise<void>
  readonly busy: () => number
  stop(): void
}

/** Rows read ahead; those whose recipient is busy wait here, so a stubborn one delays only its own. */
const AHEAD_MAX = 1_024
const PAGE = 64
/** A retry that the view still lists although it was just taken is looked at again after this. */
const STALE_MS = 50
/** After a dispatch that could not begin, for instance because the log takes no writes. */
const CRASH_WAIT_MS = 1_000

export function createLane(options: LaneOptions): Lane {
  const { clock, bucket, concurrency } = options
  /** Rows in hand that wait for their turn, in order. */
  let ahead: QueueRow[] = []
  let cursor = 0
  /** There was nothing more to read; the view tells when there is. */
  let isExhausted = false
  let hasNews = true
  /** As the view said it last. */
  let nextRetry: string | null = null
  const busyContacts = new Set<string>()
  const inHand = new Map<string, number>()
  let inFlight = 0
  let stopped = false
  const timer = alarm(clock, () => void pump())

  function refill(): void {
    const page = options.next(cursor, PAGE)
    isExhausted = page.length < PAGE
    const last = page.at(-1)
    if (last) cursor = last.position
    ahead.push(...page)
  }

  /** The view can be behind what was done: a retry stays listed until its new attempt is folded in. */
  function forgetSeen(): void {
    const seen = options.viewPosition()
    for (const [messageId, position] of inHand) if (position > 0 && position <= seen) inHand.delete(messageId)
  }

  /** A due retry goes before what was admitted after it; one that is in hand already is not taken twice. */
  function takeRetries(): QueueRow[] {
    return options.retries(PAGE).filter(row => !inHand.has(row.messageId) && !busyContacts.has(row.contactId))
  }

  function takeNext(): QueueRow | null {
    for (;;) {
      const index = ahead.findIndex(row => !busyContacts.has(row.contactId))
      if (index >= 0) return ahead.splice(index, 1)[0] ?? null
      if (isExhausted || ahead.length >= AHEAD_MAX) return null
      refill()
    }
  }

  let lastTurn = Promise.resolve()

  function nextTurn(): Turn {
    const come = lastTurn
    let pass = (): void => undefined
    lastTurn = new Promise<void>(resolve => {
      pass = resolve
    })
    return { come, pass: () => pass() }
  }

  function start(row: QueueRow): void {
    inFlight++
    busyContacts.add(row.contactId)
    inHand.set(row.messageId, 0)
    const turn = nextTurn()
    options
      .dispatch(row, turn)
      .then(
        done => finished(row, done),
        error => takeBack(row, error)
      )
      .finally(() => {
        turn.pass()
        inFlight--
        if (!stopped) void pump()
      })
  }

  function finished(row: QueueRow, { spent, position }: Dispatched): void {
    if (!spent) bucket.giveBack()
    if (position === null) inHand.delete(row.messageId)
    else inHand.set(row.messageId, position)
    busyContacts.delete(row.contactId)
  }

  /** Nothing has left: the message goes on waiting, and its recipient with it, until it is tried again. */
  function takeBack(row: QueueRow, error: unknown): void {
    options.onCrash(error)
    bucket.giveBack()
    clock.after(CRASH_WAIT_MS, () => {
      inHand.delete(row.messageId)
      busyContacts.delete(row.contactId)
      if (row.state === 'queued' && !stopped) ahead.unshift(row)
      if (!stopped) void pump()
    })
  }

  let pumping = false
  let again = false

  async function pump(news = false): Promise<void> {
    hasNews ||= news
    if (pumping) {
      again = true
      return
    }
    pumping = true
    try {
      do {
        again = false
        const opensAt = inFlight < concurrency ? await options.opensAt() : null
        if (opensAt !== null && Date.parse(opensAt) > clock.now()) timer.at(Date.parse(opensAt))
        else if (opensAt !== null) await fillSlots()
      } while (again && !stopped)
    } catch (error) {
      options.onCrash(error)
      timer.at(clock.now() + CRASH_WAIT_MS)
    } finally {
      pumping = false
    }
  }

  async function fillSlots(): Promise<void> {
    forgetSeen()
    if (hasNews) {
      isExhausted = false
      nextRetry = options.nextRetry()
    }
    const isRetryDue = nextRetry !== null && Date.parse(nextRetry) <= clock.now()
    // What is taken stays listed until its new attempt is folded in: then it is asked again.
    hasNews = isRetryDue
    const retries = isRetryDue ? takeRetries() : []
    while (inFlight < concurrency && !stopped) {
      const row = retries.shift() ?? takeNext()
      if (!row) break
      if (busyContacts.has(row.contactId)) continue
      const taken = bucket.take()
      // Only a bucket that nodes share has to be waited for.
      if (!(typeof taken === 'boolean' ? taken : await taken)) {
        if (row.state === 'queued') ahead.unshift(row)
        timer.at(clock.now() + Math.max(1, bucket.waitMs()))
        return
      }
      if (stopped) return bucket.giveBack()
      start(row)
    }
    if (nextRetry !== null) timer.at(Math.max(Date.parse(nextRetry), clock.now() + STALE_MS))
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
