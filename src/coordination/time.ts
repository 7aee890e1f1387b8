/** Time as coordination needs it: a clock that is never set, because leases end by it, and timers. */
export type Time = {
  /** Milliseconds since some moment; only differences mean anything. */
  now(): number
  /** Calls once after `ms`; the returned function cancels. */
  after(ms: number, call: () => void): () => void
}

export const monotonicTime: Time = {
  now: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, Math.max(0, ms))
    return () => clearTimeout(timer)
  }
}

/** Resolves with the work, or without it when it takes longer than `ms`; never rejects. */
export function within(time: Time, ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise(resolve => {
    const cancel = time.after(ms, resolve)
    const done = (): void => {
      cancel()
      resolve()
    }
    work.then(done, done)
  })
}
