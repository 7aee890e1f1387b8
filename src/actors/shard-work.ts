/**
 * Who works what. A node's workers start on a shard only when its views have passed the head of the log that was read
 * after the lease was won (architecture, rule 6), and stop at once when the lease is lost.
 */
import type { Leases } from '../coordination/port.ts'
import { shardOf } from '../domain/shards.ts'
import type { EventLog } from '../log/port.ts'
import type { Views } from '../projections/port.ts'
import type { Clock } from './clock.ts'
import type { Logger } from './core.ts'

/** Says whether a channel, an attempt or a destination belongs to the shards in question. */
export type Belongs = (id: string) => boolean

export type ShardWorker = {
  /** Settles what the holder before left behind, then works. */
  open(belongs: Belongs): Promise<void>
  /** Starts nothing more there; resolves when what is under way is recorded. */
  close(belongs: Belongs): Promise<void>
}

export type ShardWork = {
  /** This node works it now: asked before every step. */
  works: Belongs
  /** The shards that it works now. */
  shards(): readonly number[]
  join(worker: ShardWorker): void
  /** Takes part from now on. Resolves when the shards that are held at once are open. */
  start(): Promise<void>
  leave(): Promise<void>
}

const CATCH_UP_STEP_MS = 1_000

export function createShardWork(
  leases: Leases,
  { log, views, clock, logger }: { log: EventLog; views: Views; clock: Clock; logger: Logger }
): ShardWork {
  const workers: ShardWorker[] = []
  const opened = new Set<number>()
  /** Shard → how often it was lost: tells one holding of it from the next. */
  const lostTimes = new Map<number, number>()
  const turnOf = (shard: number): number => lostTimes.get(shard) ?? 0

  const within =
    (shards: ReadonlySet<number>): Belongs =>
    id =>
      shards.has(shardOf(id))

  /** Held without a break since the take-over began: what was lost and won again meanwhile has a take-over of its own. */
  const since = (turns: ReadonlyMap<number, number>): Set<number> =>
    new Set([...turns].filter(([shard, turn]) => turnOf(shard) === turn && leases.holds(shard)).map(([shard]) => shard))

  async function open(turns: ReadonlyMap<number, number>): Promise<void> {
    const head = await log.head()
    while (!(await views.caughtUp(head, CATCH_UP_STEP_MS))) if (since(turns).size === 0) return
    const held = since(turns)
    for (const worker of workers) await worker.open(within(held))
    const still = since(turns)
    for (const shard of still) opened.add(shard)
    // What came while they were opening is found by looking once more, now that they are.
    for (const worker of workers) await worker.open(within(still))
  }

  /** A log that is away does not end a lease: the take-over is begun anew for as long as shards are held. */
  async function openAtLast(shards: readonly number[]): Promise<void> {
    const turns = new Map(shards.map(shard => [shard, turnOf(shard)]))
    while (since(turns).size > 0) {
      try {
        return await open(turns)
      } catch (error) {
        logger.warn({ err: error }, 'shards could not be taken over and are tried again')
        await new Promise<void>(resolve => clock.after(CATCH_UP_STEP_MS, resolve))
      }
    }
  }

  async function close(shards: readonly number[]): Promise<void> {
    for (const shard of shards) {
      opened.delete(shard)
      lostTimes.set(shard, turnOf(shard) + 1)
    }
    const lost = within(new Set(shards))
    await Promise.allSettled(workers.map(worker => worker.close(lost)))
  }

  return {
    works(id) {
      const shard = shardOf(id)
      return opened.has(shard) && leases.holds(shard)
    },
    shards: () => [...opened].filter(leases.holds),
    join: worker => void workers.push(worker),
    async start() {
      let first: Promise<void> = Promise.resolve()
      leases.watch({
        onAcquired(shards) {
          first = openAtLast(shards)
        },
        onLost: close
      })
      leases.join()
      await first
    },
    leave: () => leases.leave()
  }
}
