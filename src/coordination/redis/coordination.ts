/** Coordination of several nodes through one Redis (6 or later). Nothing here waits for Redis to be there. */
import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { checkAnnouncement, createListeners } from '../listeners.ts'
import type { Bucket, Coordination, CoordinationOptions } from '../port.ts'
import { createShortLived } from '../short-lived.ts'
import { monotonicTime } from '../time.ts'
import { createAnnouncements } from './announcements.ts'
import { createRedisBucket } from './bucket.ts'
import { connect } from './connection.ts'
import { createRedisEphemeral } from './ephemeral.ts'
import { leaseTiming } from './lease-timing.ts'
import { createRedisLeases } from './leases.ts'
import { openLink } from './link.ts'
import { createRequestCounts } from './request-counts.ts'

export type RedisCoordinationOptions = CoordinationOptions & {
  /** `redis://` or `rediss://`. */
  readonly redisUrl: string
  /** The node's name; each start of a process is told apart by itself. */
  readonly nodeId: string
  /** LEASE_SECONDS: in all, from a node's death to its work being taken. */
  readonly leaseMs: number
  /** 32 bytes, the same on every node: encrypts short-lived values. */
  readonly secret: Buffer
  /** Before every key and channel, for deployments that share a Redis. */
  readonly keyPrefix?: string
}

/** Numbers whose buckets are held here at once; Redis keeps their tokens when one leaves. */
const BUCKETS_MAX = 10_000
const COMMAND_TIMEOUT_MIN_MS = 250
const COMMAND_TIMEOUT_MAX_MS = 1_000
const WAKE_TOPIC = 'leases'

export function openRedisCoordination(options: RedisCoordinationOptions): Coordination {
  const { redisUrl, time = monotonicTime, onProblem = () => undefined } = options
  const node = `${options.nodeId}.${randomBytes(6).toString('hex')}`
  const prefix = options.keyPrefix ?? 'ledgerline:'
  // Names of connections have no spaces.
  const name = `ledgerline-${options.nodeId.replace(/[^\w.-]/g, '_')}`
  const quarterOfLease = leaseTiming(options.leaseMs).ttlMs / 4
  const commandTimeoutMs = Math.min(COMMAND_TIMEOUT_MAX_MS, Math.max(COMMAND_TIMEOUT_MIN_MS, quarterOfLease))
  const link = openLink({ url: redisUrl, name, commandTimeoutMs, time, onProblem })
  const ear = connect(redisUrl, `${name}-ear`, commandTimeoutMs)
  const { announce, subscribe } = createAnnouncements(link, ear, createListeners(onProblem), prefix)
  // The text says by whom, so that a node does not wake itself.
  const wakeOthers = (): Promise<unknown> => announce(WAKE_TOPIC, node)
  const leases = createRedisLeases({ link, time, node, leaseMs: options.leaseMs, prefix, wakeOthers, onProblem })
  subscribe(WAKE_TOPIC, by => by !== node && leases.wake())
  link.onUsable(leases.wake)
  const buckets = new LRUCache<string, { perMinute: number; bucket: Bucket }>({ max: BUCKETS_MAX })

  return {
    leases,
    bucket(key, perMinute) {
      const known = buckets.get(key)
      if (known?.perMinute === perMinute) return known.bucket
      const bucket = createRedisBucket(link, time, `${prefix}bucket:${key}`, perMinute)
      buckets.set(key, { perMinute, bucket })
      return bucket
    },
    hit: createRequestCounts(link, time, prefix),
    ephemeral: createRedisEphemeral(link, createShortLived(time), options.secret, prefix),
    announce(topic, text) {
      checkAnnouncement(text)
      void announce(`app:${topic}`, text)
    },
    subscribe: (topic, listener) => subscribe(`app:${topic}`, listener),
    health() {
      const reason = link.trouble()
      return { ok: reason === null, reason }
    },
    async close() {
      await leases.leave()
      link.close()
      ear.disconnect()
    }
  }
}
