import type { Clock } from '../clock.ts'
import type { Follower, Position, RecordedEvent } from '../port.ts'
import type { Reader } from './reader.ts'
import { PAGE_EVENTS } from './reader.ts'

/** A page that failed is tried again after this time, for as long as it takes. */
const RETRY_MS = 1_000

/** Tells everybody who waits that the log has grown. */
export type Signal = {
  raise(): void
  /** Calls the listener at every raise until it is cancelled. */
  listen(listener: () => void): () => void
}

export function createSignal(): Signal {
  const listeners = new Set<() => void>()
  return {
    raise() {
      for (const listener of listeners) listener()
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
  }
}

export type FollowOptions = {
  readonly reader: Reader
  readonly grown: Signal
  readonly clock: Clock
  readonly after: Position
  readonly onPage: (page: readonly RecordedEvent[]) => Promise<void> | void
  /** Hears of a page that could not be read or handled. */
  readonly onProblem: (error: unknown) => void
}

/** Catches up a page at a time, then follows live. A page is given again when its handler failed. */
export function createFollower({ reader, grown, clock, after, onPage, onProblem }: FollowOptions): Follower {
  let position = after
  let open = true
  let news = false
  let wake: () => void = () => {}
  const cancel = grown.listen(() => {
    news = true
    wake()
  })

  /** Handles the next page; false when there is none. */
  async function step(): Promise<boolean> {
    const { events, to } = reader.scan(position, PAGE_EVENTS)
    if (to === position) return false
    if (events.length > 0) await onPage(events)
    position = to
    return true
  }

  function untilWoken(delayMs: number | null): Promise<void> {
    return new Promise(resolve => {
      const stop = delayMs === null ? () => {} : clock.after(delayMs, resolve)
      wake = () => {
        stop()
        resolve()
      }
    })
  }

  async function run(): Promise<void> {
    // The caller holds its follower before the first page comes.
    await Promise.resolve()
    while (open) {
      news = false
      try {
        if (await step()) await new Promise(setImmediate)
        else if (open && !news) await untilWoken(null)
      } catch (error) {
        onProblem(error)
        if (open) await untilWoken(RETRY_MS)
      }
    }
  }

  const done = run()
  return {
    close() {
      open = false
      cancel()
      wake()
      return done
    }
  }
}
