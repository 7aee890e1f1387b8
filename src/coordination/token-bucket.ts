/** A token bucket in this process. */
import type { Bucket } from './port.ts'
import type { Time } from './time.ts'

export const burstOf = (perMinute: number): number => Math.max(1, Math.floor(perMinute / 10))

export type LocalBucket = Omit<Bucket, 'take'> & { take(): boolean }

export const UNLIMITED: LocalBucket = { take: () => true, giveBack: () => undefined, waitMs: () => 0 }

export function createLocalBucket(time: Time, perMinute: number, start: 'full' | 'empty' = 'full'): LocalBucket {
  if (perMinute <= 0) return UNLIMITED
  const burst = burstOf(perMinute)
  const perMs = perMinute / 60_000
  let tokens = start === 'full' ? burst : 0
  let filledAt = time.now()
  function fill(): void {
    const at = time.now()
    tokens = Math.min(burst, tokens + Math.max(0, at - filledAt) * perMs)
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
