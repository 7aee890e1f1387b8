/** What this node holds, by its own monotonic clock. */
import { ALL_SHARDS, SHARDS } from '../../domain/shards.ts'
import type { Time } from '../time.ts'

const FREE = 0
const HELD = 1
/** Still ours for the others, while the workers let go. */
const YIELDING = 2

export type LeaseTable = {
  holds(shard: number): boolean
  held(): number[]
  /** Held or yielding, and not over: a `1` per shard. */
  kept(): string
  /** When the first of the held ones ends; null when there is none. */
  endsAt(): number | null
  /** Takes over what Redis answered, valid until a moment. */
  apply(mine: string, validUntil: number): { gained: number[]; lost: number[] }
  /** Drops what is over; answers it. */
  expire(): number[]
  startYielding(shards: readonly number[]): void
  /** Those of them that are yielding still are free now. */
  release(shards: readonly number[]): void
}

export function createLeaseTable(time: Time): LeaseTable {
  const states = new Uint8Array(SHARDS)
  const until = new Float64Array(SHARDS)
  const inState = (state: number): number[] => ALL_SHARDS.filter(shard => states[shard] === state)

  return {
    holds: shard => states[shard] === HELD && time.now() < (until[shard] ?? 0),
    held: () => inState(HELD),
    kept() {
      const now = time.now()
      return ALL_SHARDS.map(shard => (states[shard] !== FREE && now < (until[shard] ?? 0) ? '1' : '0')).join('')
    },
    endsAt() {
      const held = inState(HELD)
      return held.length === 0 ? null : Math.min(...held.map(shard => until[shard] ?? 0))
    },
    apply(mine, validUntil) {
      const gained: number[] = []
      const lost: number[] = []
      const isValid = validUntil > time.now()
      for (const shard of ALL_SHARDS)
        if (mine[shard] === '1') {
          if (!isValid) continue
          until[shard] = validUntil
          if (states[shard] !== FREE) continue
          states[shard] = HELD
          gained.push(shard)
        } else if (states[shard] !== FREE) {
          if (states[shard] === HELD) lost.push(shard)
          states[shard] = FREE
        }
      return { gained, lost }
    },
    expire() {
      const now = time.now()
      const over = inState(HELD).filter(shard => now >= (until[shard] ?? 0))
      for (const shard of over) states[shard] = FREE
      return over
    },
    startYielding(shards) {
      for (const shard of shards) states[shard] = YIELDING
    },
    release(shards) {
      for (const shard of shards) if (states[shard] === YIELDING) states[shard] = FREE
    }
  }
}
