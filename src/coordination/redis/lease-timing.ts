/** The times of a lease, from LEASE_SECONDS: within it a killed node's shards are taken, whatever step it died at. */
export type LeaseTiming = {
  /** Between two announcements, each of which renews. */
  readonly tickMs: number
  /** A lease lives this long in Redis without renewal. */
  readonly ttlMs: number
  /** Counted from before the renewal was asked for, it counts as lost here: earlier than in Redis. */
  readonly heldMs: number
  /** A node that was not heard for this long has no share. */
  readonly aliveMs: number
  /** For workers to let go before their shards are given back. */
  readonly yieldMs: number
}

const TICK_MAX_MS = 1_000

/** Two ticks are left for the others to notice: `leaseMs` = life in Redis + 2 ticks. */
export function leaseTiming(leaseMs: number): LeaseTiming {
  const tickMs = Math.min(TICK_MAX_MS, Math.max(10, Math.floor(leaseMs / 10)))
  const ttlMs = Math.max(4 * tickMs, leaseMs - 2 * tickMs)
  return { tickMs, ttlMs, heldMs: ttlMs - tickMs, aliveMs: Math.floor(ttlMs / 2), yieldMs: Math.floor(ttlMs / 2) }
}
