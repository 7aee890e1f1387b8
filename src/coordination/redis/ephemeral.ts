/** Short-lived values in Redis, encrypted: a QR is a login secret. While Redis is away this node keeps its own. */
import { decrypt, encrypt } from '../../log/encryption.ts'
import type { Ephemeral } from '../port.ts'
import { VALUE_BYTES_MAX } from '../short-lived.ts'
import type { Link } from './link.ts'

/** `secret`: 32 bytes, the same on every node. */
export function createRedisEphemeral(link: Link, own: Ephemeral, secret: Buffer, prefix: string): Ephemeral {
  const nameOf = (key: string): string => `${prefix}short:${key}`
  return {
    async put(key, value, ttlMs) {
      if (Buffer.byteLength(value) > VALUE_BYTES_MAX || ttlMs < 1) return
      const name = nameOf(key)
      const sealed = encrypt(secret, value, name)
      const kept = await link.ask(redis => redis.set(name, sealed, 'PX', Math.ceil(ttlMs)))
      if (!kept.ok) return own.put(key, value, ttlMs)
      await own.delete(key)
    },
    async get(key) {
      const name = nameOf(key)
      const held = await link.ask(redis => redis.get(name))
      if (!held.ok) return own.get(key)
      return held.value === null ? null : decrypt(secret, held.value, name)
    },
    async delete(key) {
      await own.delete(key)
      await link.ask(redis => redis.del(nameOf(key)))
    }
  }
}
