/** Requests counted in this process: a window of a minute begins with a key's first request. */
import { LRUCache } from 'lru-cache'
import type { Hit } from './port.ts'
import type { Time } from './time.ts'

export const WINDOW_MS = 60_000
/** Keys whose counts are held at once; the least recently used leave first. */
export const KEYS_HELD_MAX = 10_000

export const UNCOUNTED: Hit = { allowed: true, remaining: Number.POSITIVE_INFINITY, resetMs: 0 }

export const toHit = (count: number, limit: number, resetMs: number): Hit => ({
  allowed: count <= limit,
  remaining: Math.max(0, limit - count),
  resetMs: Math.max(0, Math.ceil(resetMs))
})

export function createRequestWindows(time: Time): (key: string, limitPerMinute: number) => Hit {
  const windows = new LRUCache<string, { count: number; endsAt: number }>({ max: KEYS_HELD_MAX })
  return (key, limitPerMinute) => {
    if (limitPerMinute <= 0) return UNCOUNTED
    const at = time.now()
    let window = windows.get(key)
    if (window === undefined || window.endsAt <= at) {
      window = { count: 0, endsAt: at + WINDOW_MS }
      windows.set(key, window)
    }
    window.count++
    return toHit(window.count, limitPerMinute, window.endsAt - at)
  }
}
