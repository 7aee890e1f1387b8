/** The send rate of one number (decisions §1, RATE_LIMIT_PER_MINUTE): a burst of a tenth of the rate, at least 1. */
import type { Clock } from './clock.ts'

export type TokenBucket = {
  /** Takes a token; false when there is none now. */
  take(): boolean
  /** Gives back a token that was not used. */
  giveBack(): void
  /** Milliseconds until the next token; 0 when there is one. */
  waitMs(): number
}

export function createTokenBucket(clock: Clock, perMinute: number): TokenBucket {
  if (perMinute <= 0) return { take: () => true, giveBack: () => undefined, waitMs: () => 0 }
  const burst = Math.max(1, Math.floor(perMinute / 10))
  const perMs = perMinute / 60_000
  let tokens = burst
  let filledAt = clock.now()
  function fill(): void {
    const at = clock.now()
    tokens = Math.min(burst, tokens + (at - filledAt) * perMs)
    filledAt = at
  }
  return {
    take() {
      fill()
      if (tokens < 1) return false
      tokens -= 1
      return true
    },
    giveBack() {
      tokens = Math.min(burst, tokens + 1)
    },
    waitMs() {
      fill()
      return tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perMs)
    }
  }
}
