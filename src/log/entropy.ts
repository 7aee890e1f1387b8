/** Random bytes cut from a pool: one call to the generator for each use costs more than what the bytes are used for. */
import { randomFillSync } from 'node:crypto'

const POOL = Buffer.alloc(16 * 1024)
let used = POOL.length

/** Fresh bytes in a buffer of their own, at most 16 KiB; the pool keeps no copy of what it gave away. */
export function entropy(bytes: number): Buffer {
  if (used + bytes > POOL.length) {
    randomFillSync(POOL)
    used = 0
  }
  const cut = POOL.subarray(used, used + bytes)
  used += bytes
  const taken = Buffer.from(cut)
  cut.fill(0)
  return taken
}
