/**
 * Requests counted in Redis. A key far from its limit is answered from what this node knows, and the others learn of it
 * a moment later; a key that is new here or past half of its limit is asked for in Redis. So a send waits for nothing in
 * ordinary times, and a limit is exceeded at most by what other nodes let through within that moment.
 */
import { LRUCache } from 'lru-cache'
import type { Hit } from '../port.ts'
import { KEYS_HELD_MAX, toHit, UNCOUNTED, WINDOW_MS } from '../request-windows.ts'
import type { Time } from '../time.ts'
import type { Link } from './link.ts'

type Window = {
  readonly key: string
  endsAt: number
  /** As Redis last said, with what this node counted alone when Redis was away. */
  total: number
  unsent: number
  inFlight: number
  /** Redis has spoken about this window. */
  known: boolean
  flushing: boolean
}

const FLUSH_MS = 20

export function createRequestCounts(
  link: Link,
  time: Time,
  prefix: string
): (key: string, limitPerMinute: number) => Hit | Promise<Hit> {
  const windows = new LRUCache<string, Window>({ max: KEYS_HELD_MAX })

  function windowOf(key: string, at: number): Window {
    const held = windows.get(key)
    if (held !== undefined && held.endsAt > at) return held
    const fresh = { key, endsAt: at + WINDOW_MS, total: 0, unsent: 0, inFlight: 0, known: false, flushing: false }
    windows.set(key, fresh)
    return fresh
  }

  /** Tells Redis what it does not know yet; answers the count with it. */
  async function send(window: Window): Promise<number> {
    const delta = window.unsent
    window.unsent = 0
    window.inFlight += delta
    const answer = await link.ask(redis => redis.countRequests(`${prefix}requests:${window.key}`, delta, WINDOW_MS))
    window.inFlight -= delta
    if (answer.ok) {
      const [count, leftMs] = answer.value
      window.total = count
      window.endsAt = time.now() + leftMs
      window.known = true
    } else window.total += delta
    return window.total
  }

  function flushSoon(window: Window): void {
    if (window.flushing) return
    window.flushing = true
    time.after(FLUSH_MS, () => {
      window.flushing = false
      if (window.unsent > 0 && link.usable()) void send(window)
    })
  }

  return (key, limitPerMinute) => {
    if (limitPerMinute <= 0) return UNCOUNTED
    const at = time.now()
    const window = windowOf(key, at)
    window.unsent++
    const count = window.total + window.inFlight + window.unsent
    const isSure = !link.usable() || (window.known && count <= limitPerMinute / 2)
    if (!isSure) return send(window).then(total => toHit(total, limitPerMinute, window.endsAt - time.now()))
    flushSoon(window)
    return toHit(count, limitPerMinute, window.endsAt - at)
  }
}
