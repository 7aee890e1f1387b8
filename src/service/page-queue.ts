/** Pages that a follower brings, read in the runner's own portions. */
import type { RecordedEvent } from '../log/port.ts'

export type PageQueue = {
  add(page: readonly RecordedEvent[]): void
  /** At most `limit` events after the position; empty when there are none at hand. What lies before is dropped. */
  read(after: number, limit: number): readonly RecordedEvent[]
}

export function createPageQueue(): PageQueue {
  let waiting: readonly RecordedEvent[] = []
  return {
    add(page) {
      // A page that could not be folded is handed over once more.
      const newest = waiting.at(-1)?.position ?? 0
      const fresh = page.filter(event => event.position > newest)
      waiting = waiting.length === 0 ? fresh : [...waiting, ...fresh]
    },
    read(after, limit) {
      const first = waiting.findIndex(event => event.position > after)
      waiting = first < 0 ? [] : waiting.slice(first)
      return waiting.slice(0, limit)
    }
  }
}
