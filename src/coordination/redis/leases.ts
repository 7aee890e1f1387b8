/**
 * Leases of shards in Redis. Every second a node announces itself, renews what it holds and takes what is free, up to
 * its fair share; what it holds above that it gives back once its workers have let go. When Redis is away leases end by
 * the node's own clock, before they can end in Redis, and come back with it.
 */

import { ALL_SHARDS, SHARDS, shardOf } from '../../domain/shards.ts'
import { createLeaseWatchers } from '../lease-watchers.ts'
import type { Leases } from '../port.ts'
import { type Time, within } from '../time.ts'
import { createLeaseTable } from './lease-table.ts'
import { leaseTiming } from './lease-timing.ts'
import type { Link } from './link.ts'

export type RedisLeasesOptions = {
  readonly link: Link
  readonly time: Time
  /** Unique to this process and start. */
  readonly node: string
  readonly leaseMs: number
  readonly prefix: string
  /** Wakes the other nodes: there is something to take, or somebody to share with. */
  readonly wakeOthers: () => Promise<unknown>
  readonly onProblem: (problem: string, error: unknown) => void
}
export type RedisLeases = Leases & { wake(): void }

/** Wakes that come together lead to one round. */
const WAKE_MS = 20

export function createRedisLeases(options: RedisLeasesOptions): RedisLeases {
  const { link, time, node, prefix, onProblem } = options
  const timing = leaseTiming(options.leaseMs)
  const members = `${prefix}nodes`
  const shardKeys = ALL_SHARDS.map(shard => `${prefix}lease:${shard}`)
  const roundKeys = [members, `${prefix}era`, ...shardKeys]
  /** Nodes begin to look at different places, so that they seldom want the same. */
  const first = shardOf(node)
  const table = createLeaseTable(time)
  const watchers = createLeaseWatchers(onProblem)
  /** Workers that are letting go. */
  const yielding = new Set<Promise<void>>()
  let joined = false
  let left = false
  let known = false
  let woken = false
  let cancelRound: (() => void) | null = null
  let cancelExpiry: (() => void) | null = null
  let lastTurn: Promise<unknown> = Promise.resolve()

  /** Rounds and releases one after the other: an answer always speaks of the table that was sent. */
  function inTurn(work: () => Promise<unknown>): Promise<unknown> {
    lastTurn = lastTurn.then(work).catch(error => onProblem('a round of leases failed', error))
    return lastTurn
  }

  function expire(): void {
    void watchers.lost(table.expire())
    watchExpiry()
  }

  function watchExpiry(): void {
    cancelExpiry?.()
    cancelExpiry = null
    const endsAt = table.endsAt()
    if (endsAt !== null) cancelExpiry = time.after(endsAt - time.now(), expire)
  }

  async function round(): Promise<void> {
    if (left) return
    const kept = table.kept()
    const sentAt = time.now()
    const answer = await link.ask(redis =>
      redis.leaseRound(roundKeys.length, ...roundKeys, node, timing.ttlMs, timing.aliveMs, kept, first)
    )
    if (!answer.ok || left) return
    const [live, share, mine] = answer.value
    const { gained, lost } = table.apply(mine, sentAt + timing.heldMs)
    watchExpiry()
    void watchers.lost(lost)
    watchers.acquired(gained)
    if (!known && live > 1) void options.wakeOthers()
    known = true
    yieldExcess(share)
  }

  function yieldExcess(share: number): void {
    const excess = byDistance(table.held()).slice(share)
    if (excess.length > 0) void giveUp(excess)
  }

  /** Those that were taken first are kept: others look for theirs somewhere else. */
  const byDistance = (shards: number[]): number[] =>
    shards.sort((a, b) => ((a - first + SHARDS) % SHARDS) - ((b - first + SHARDS) % SHARDS))

  async function giveUp(shards: readonly number[]): Promise<void> {
    table.startYielding(shards)
    const letGo = within(time, timing.yieldMs, watchers.lost(shards))
    yielding.add(letGo)
    await letGo
    yielding.delete(letGo)
    if (left) return
    await inTurn(async () => {
      await release(shards, false)
      table.release(shards)
    })
    await options.wakeOthers()
  }

  const release = (shards: readonly number[], forGood: boolean): Promise<unknown> => {
    const keys = [members, ...shards.map(shard => `${prefix}lease:${shard}`)]
    return link.ask(redis => redis.leaseRelease(keys.length, ...keys, node, forGood ? '1' : '0'))
  }

  function schedule(ms: number): void {
    cancelRound?.()
    cancelRound = time.after(ms, () => {
      cancelRound = null
      woken = false
      // A wake during the round has set the next one already.
      void inTurn(round).then(() => left || cancelRound !== null || schedule(timing.tickMs))
    })
  }

  function wake(): void {
    if (!joined || left || woken) return
    woken = true
    schedule(WAKE_MS)
  }

  async function leave(): Promise<void> {
    if (left) return
    left = true
    cancelRound?.()
    if (!joined) return
    const held = table.held()
    table.startYielding(ALL_SHARDS)
    cancelExpiry?.()
    await Promise.all([...yielding, within(time, timing.yieldMs, watchers.lost(held))])
    await inTurn(() => release(ALL_SHARDS, true))
    table.release(ALL_SHARDS)
    await options.wakeOthers()
  }

  return {
    join() {
      if (joined || left) return
      joined = true
      schedule(0)
    },
    holds: table.holds,
    owns: id => table.holds(shardOf(id)),
    watch: watcher => watchers.add(watcher, table.held().filter(table.holds)),
    leave,
    wake
  }
}
