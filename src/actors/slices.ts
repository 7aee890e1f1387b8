/** Long work in short turns (architecture, rule 10): whatever comes in between waits for one slice, however many work. */

/** `next` is null while the slice goes on; else it is waited for, and the one who asks has the next turn of his own. */
export type Slices = { next(): Promise<void> | null }

/** All who share it together have so many milliseconds in each turn of the event loop. */
export function createSlices(sliceMs: number): Slices {
  const waiting: (() => void)[] = []
  let ends = 0

  function turn(): void {
    ends = performance.now() + sliceMs
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(turn)
  }

  return {
    next() {
      if (performance.now() < ends) return null
      return new Promise(resolve => {
        if (waiting.push(resolve) === 1) setImmediate(turn)
      })
    }
  }
}
