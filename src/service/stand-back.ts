/**
 * Batches stand back while single sends come: their thread then rests longer than it works, so that the threads that a
 * single send waits for find a processor free, and its commit is not one of many.
 */
import { performance } from 'node:perf_hooks'

/** What the thread may be at work of the time, while single sends come. */
const SHARE = 0.25
/** So long after the last single send others are still expected. */
const LINGER_MS = 50
/** It works for so long before it rests. */
const WORK_MS = 2
/** At once; what the log answers meanwhile waits. */
const REST_MAX_MS = 20
/** More is let off: one long stall is not rested for seconds. */
const EXCESS_MAX_MS = 25
/** To look at the clock costs more than to count. */
const LOOK_EVERY = 8

export type Circumstances = {
  /** In ms. */
  readonly now: () => number
  /** For how many ms the thread has been at work since it began; sleep may count as work. */
  readonly worked: () => number
  /** How many single sends have come so far, modulo 2^32. */
  readonly singles: () => number
  readonly sleep: (ms: number) => void
}

/** To be called after each piece of work, of a tenth of a millisecond or so: sleeps when it is time to. */
export function createStandBack({ now, worked, singles, sleep }: Circumstances): () => void {
  let pieces = 0
  let seen = singles()
  let expectedUntil = 0
  /** Work beyond the share, in ms. */
  let excess = 0
  let at = now()
  let workedThen = worked()

  function rest(): void {
    sleep(Math.min(excess / SHARE, REST_MAX_MS))
    const woken = now()
    excess -= (woken - at) * SHARE
    at = woken
    workedThen = worked()
  }

  return () => {
    if (++pieces % LOOK_EVERY !== 0) return
    const last = at
    const workedBefore = workedThen
    at = now()
    workedThen = worked()
    const count = singles()
    if (count !== seen) expectedUntil = at + LINGER_MS
    seen = count
    if (at >= expectedUntil) excess = 0
    else excess = clamp(excess + workedThen - workedBefore - (at - last) * SHARE)
    if (excess >= WORK_MS) rest()
  }
}

const clamp = (excess: number): number => Math.min(Math.max(excess, 0), EXCESS_MAX_MS)

/** Shared by two threads: the one counts single sends, the other stands back. */
export type SinglesCount = Int32Array

export const newSinglesCount = (): SinglesCount => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

export const countSingle = (count: SinglesCount): void => void Atomics.add(count, 0, 1)

/** For the calling thread; it sleeps as a whole, so whatever it is asked meanwhile waits. */
export function standBackOf(count: SinglesCount): () => void {
  const nobody = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  return createStandBack({
    now: () => performance.now(),
    worked: () => performance.eventLoopUtilization().active,
    singles: () => Atomics.load(count, 0),
    sleep: ms => void Atomics.wait(nobody, 0, 0, ms)
  })
}
