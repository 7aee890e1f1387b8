/** Time as the log needs it: handed in, so that tests and the simulation own it. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number
  /** Runs once, after `delayMs`; the answer cancels it. */
  after(delayMs: number, run: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  }
}

export const pause = (clock: Clock, delayMs: number): Promise<void> =>
  new Promise(resolve => void clock.after(delayMs, resolve))
