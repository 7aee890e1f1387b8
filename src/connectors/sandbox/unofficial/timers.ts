export type Timers = {
  /** Runs `action` once after `ms`; the returned function cancels it. */
  after(ms: number, action: () => void): () => void
  /** Resolves after `ms`, and never when the timers are cleared first. */
  wait(ms: number): Promise<void>
  clear(): void
  /** Clears, and starts none from now on. */
  close(): void
}

/** All timers of one simulated server, so that closing it leaves none behind. */
export function createTimers(): Timers {
  const running = new Set<NodeJS.Timeout>()
  let isClosed = false

  function after(ms: number, action: () => void) {
    if (isClosed) return () => {}
    const timer = setTimeout(() => {
      running.delete(timer)
      action()
    }, ms)
    running.add(timer)
    return () => {
      clearTimeout(timer)
      running.delete(timer)
    }
  }

  function clear() {
    for (const timer of running) clearTimeout(timer)
    running.clear()
  }

  return {
    after,
    wait: ms =>
      new Promise(resolve => {
        after(ms, resolve)
      }),
    clear,
    close() {
      isClosed = true
      clear()
    }
  }
}
