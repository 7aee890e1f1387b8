/** Time comes from outside, so that tests and simulations can hold it still. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls once after `ms`; the returned function cancels. */
  after(ms: number, call: () => void): () => void
}

/** Longest wait that the runtime's timers take. */
const TIMER_MAX_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: Date.now,
  after(ms, call) {
    const timer = setTimeout(call, Math.min(Math.max(ms, 0), TIMER_MAX_MS))
    return () => clearTimeout(timer)
  }
}

let lastMs = Number.NaN
let lastIso = ''

/** The last moment is remembered: what is done in one turn mostly bears the same. */
export function iso(milliseconds: number): string {
  if (milliseconds !== lastMs) {
    lastIso = new Date(milliseconds).toISOString()
    lastMs = milliseconds
  }
  return lastIso
}

/** Calls `work` when asked to, never twice at a time, and once more when asked while it runs. */
export function coalesced(work: () => Promise<void>, onCrash: (error: unknown) => void): () => void {
  let running = false
  let again = false
  const run = async (): Promise<void> => {
    running = true
    do {
      again = false
      await work().catch(onCrash)
    } while (again)
    running = false
  }
  return () => {
    if (running) again = true
    else void run()
  }
}

/** One timer that always stands at the earliest moment it was told of. */
export function alarm(clock: Clock, ring: () => void): { at(moment: number | null): void; clear(): void } {
  let due: number | null = null
  let cancel: (() => void) | null = null
  const clear = (): void => {
    cancel?.()
    cancel = null
    due = null
  }
  return {
    at(moment) {
      if (moment === null || (due !== null && due <= moment)) return
      clear()
      due = moment
      cancel = clock.after(moment - clock.now(), () => {
        cancel = null
        due = null
        ring()
      })
    },
    clear
  }
}
