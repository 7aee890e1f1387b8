const TICK_MS = 10
const MAX_WAITING = 3_000_000

/**
 * Runs things after a delay with one coarse clock for all of them instead of a timer each, so that thousands of
 * statuses a second cost next to nothing. Above the bound new entries are dropped and counted.
 */
export function createTimeline<Item>(now: () => number, due: (item: Item) => void) {
  const slots = new Map<number, Item[]>()
  let waiting = 0
  let dropped = 0
  let cursor = 0
  let clock: NodeJS.Timeout | undefined

  const stop = () => {
    clearInterval(clock)
    clock = undefined
  }
  const tick = () => {
    const last = Math.floor(now() / TICK_MS)
    for (; cursor <= last; cursor++) {
      const items = slots.get(cursor)
      if (!items) continue
      slots.delete(cursor)
      waiting -= items.length
      for (const item of items) due(item)
    }
    if (waiting === 0) stop()
  }

  return {
    add(delayMs: number, item: Item) {
      if (waiting >= MAX_WAITING) {
        dropped++
        return
      }
      if (clock === undefined) {
        cursor = Math.floor(now() / TICK_MS)
        clock = setInterval(tick, TICK_MS)
      }
      const slot = Math.max(cursor, Math.ceil((now() + delayMs) / TICK_MS))
      const items = slots.get(slot)
      if (items) items.push(item)
      else slots.set(slot, [item])
      waiting++
    },
    waiting: () => waiting,
    dropped: () => dropped,
    clear() {
      stop()
      slots.clear()
      waiting = 0
    }
  }
}

export type Timeline<Item> = ReturnType<typeof createTimeline<Item>>
