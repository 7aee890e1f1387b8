/**
 * Who works what. A node's workers start on a shard only when its views have passed the head of the log that was read
 * after the lease was won (architecture, rule 6), and stop at once when the lease is lost.
 */
import type { Leases } from '../coordination/port.ts'
import { shardOf } from '../coordination/shards.ts'
import type { EventLog } from '../log/port.ts'
import type { Views } from '../projections/port.ts'
import type { Logger } from './core.ts'

/** Says whether a channel, an attempt or a destination belongs to the shards in question. */
export type Belongs = (id: string) => boolean

export type ShardWorker = {
  /** Settles what the holder before left behind, then works. */
  open(belongs: Belongs): Promise<void> | void
  /** Starts nothing more there; resolves when what is under way is recorded. */
  close(belongs: Belongs): Promise<unknown> | void
}

export type ShardWork = {
  /** This node works it now: asked before every step. */
  works: Belongs
  join(worker: ShardWorker): void
  /** Takes part from now on. Resolves when the shards that are held at once are open. */
  start(): Promise<void>
  leave(): Promise<void>
}

const CATCH_UP_STEP_MS = 1_000

export function createShardWork(
  leases: Leases,
  { log, views, logger }: { log: EventLog; views: Views; logger: Logger }
): ShardWork {
  const workers: ShardWorker[] = []
  const opened = new Set<number>()

  const within =
    (shards: ReadonlySet<number>): Belongs =>
    id =>
      shards.has(shardOf(id))

  async function open(shards: readonly number[]): Promise<void> {
    const head = await log.head()
    while (!(await views.caughtUp(head, CATCH_UP_STEP_MS))) if (!shards.some(shard => leases.holds(shard))) return
    const held = new Set(shards.filter(shard => leases.holds(shard)))
    for (const worker of workers) await worker.open(within(held))
    for (const shard of held) if (leases.holds(shard)) opened.add(shard)
    // What came while they were opening is found by looking once more, now that they are.
    for (const worker of workers) await worker.open(within(held))
  }

  async function close(shards: readonly number[]): Promise<void> {
    for (const shard of shards) opened.delete(shard)
    const lost = within(new Set(shards))
    await Promise.allSettled(workers.map(worker => worker.close(lost)))
  }

  return {
    works(id) {
      const shard = shardOf(id)
      return opened.has(shard) && leases.holds(shard)
    },
    join: worker => void workers.push(worker),
    async start() {
      let first: Promise<void> = Promise.resolve()
      leases.watch({
        onAcquired(shards) {
          first = open(shards).catch(error => logger.error({ err: error }, 'shards could not be taken over'))
        },
        onLost: close
      })
      leases.join()
      await first
    },
    leave: () => leases.leave()
  }
}
