/** Coordination of a single node: this process holds everything, and nothing waits. */
import { LRUCache } from 'lru-cache'
import { ALL_SHARDS, SHARDS } from '../domain/shards.ts'
import { createLeaseWatchers } from './lease-watchers.ts'
import { checkAnnouncement, createListeners } from './listeners.ts'
import type { Bucket, Coordination, CoordinationOptions, Leases } from './port.ts'
import { createRequestWindows } from './request-windows.ts'
import { createShortLived } from './short-lived.ts'
import { monotonicTime, type Time, within } from './time.ts'
import { createLocalBucket } from './token-bucket.ts'

/** Numbers whose buckets are held at once; a bucket that leaves is full again when it comes back. */
const BUCKETS_MAX = 10_000
/** For the workers to let go at the end. */
const LEAVE_MS = 5_000

export function createLocalCoordination(options: CoordinationOptions = {}): Coordination {
  const { time = monotonicTime, onProblem = () => undefined } = options
  const buckets = new LRUCache<string, { perMinute: number; bucket: Bucket }>({ max: BUCKETS_MAX })
  const listeners = createListeners(onProblem)
  const leases = createLocalLeases(time, onProblem)
  return {
    leases,
    bucket(key, perMinute) {
      const known = buckets.get(key)
      if (known?.perMinute === perMinute) return known.bucket
      const bucket = createLocalBucket(time, perMinute)
      buckets.set(key, { perMinute, bucket })
      return bucket
    },
    hit: createRequestWindows(time),
    ephemeral: createShortLived(time),
    announce(topic, text) {
      checkAnnouncement(text)
      queueMicrotask(() => listeners.tell(topic, text))
    },
    subscribe(topic, listener) {
      const end = listeners.add(topic, listener)
      return () => void end()
    },
    health: () => ({ ok: true, reason: null }),
    close: leases.leave
  }
}

function createLocalLeases(time: Time, onProblem: (problem: string, error: unknown) => void): Leases {
  const watchers = createLeaseWatchers(onProblem)
  let holding = false
  let left = false
  const holds = (shard: number): boolean => holding && shard >= 0 && shard < SHARDS
  return {
    join() {
      if (holding || left) return
      holding = true
      watchers.acquired(ALL_SHARDS)
    },
    holds,
    owns: () => holding,
    watch: watcher => watchers.add(watcher, holding ? ALL_SHARDS : []),
    async leave() {
      left = true
      if (!holding) return
      holding = false
      await within(time, LEAVE_MS, watchers.lost(ALL_SHARDS))
    }
  }
}
