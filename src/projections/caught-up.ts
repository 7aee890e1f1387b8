/** Waiters for the views to pass a position. Woken by pages, never by polling. */

export type CaughtUp = {
  position(): number
  /** The views have passed this position. */
  advance(position: number): void
  /** True once the position is passed; false when the limit ran out or the views were closed before. */
  wait(position: number, limitMs: number): Promise<boolean>
  close(): void
}

type Waiter = { readonly position: number; readonly settle: (reached: boolean) => void }

/** Waits at once; more are answered false right away, and the read goes on with what is there. */
const WAITERS_MAX = 10_000

export function createCaughtUp(start: number): CaughtUp {
  let reached = start
  const waiters = new Set<Waiter>()

  function wait(position: number, limitMs: number): Promise<boolean> {
    if (position <= reached) return Promise.resolve(true)
    if (waiters.size >= WAITERS_MAX) return Promise.resolve(false)
    return new Promise(resolve => {
      const settle = (isReached: boolean) => {
        clearTimeout(timer)
        waiters.delete(waiter)
        resolve(isReached)
      }
      const waiter: Waiter = { position, settle }
      const timer = setTimeout(settle, limitMs, false)
      waiters.add(waiter)
    })
  }

  return {
    position: () => reached,
    advance(position) {
      reached = Math.max(reached, position)
      for (const waiter of waiters) if (waiter.position <= reached) waiter.settle(true)
    },
    wait,
    close() {
      for (const waiter of waiters) waiter.settle(false)
    }
  }
}
