/** Short-lived values in this process's memory, where they never touch disk. */
import { LRUCache } from 'lru-cache'
import type { Ephemeral } from './port.ts'
import type { Time } from './time.ts'

export const VALUE_BYTES_MAX = 256 * 1024
const VALUES_MAX = 10_000
const BYTES_MAX = 32 * 1024 * 1024

type Value = { readonly bytes: Buffer; readonly endsAt: number }

export function createShortLived(time: Time): Ephemeral {
  const values = new LRUCache<string, Value>({
    max: VALUES_MAX,
    maxSize: BYTES_MAX,
    maxEntrySize: VALUE_BYTES_MAX,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes.length)
  })
  return {
    async put(key, value, ttlMs) {
      values.set(key, { bytes: Buffer.from(value), endsAt: time.now() + ttlMs })
    },
    async get(key) {
      const held = values.get(key)
      if (held === undefined) return null
      if (held.endsAt > time.now()) return held.bytes
      values.delete(key)
      return null
    },
    async delete(key) {
      values.delete(key)
    }
  }
}
