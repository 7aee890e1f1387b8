/** Nodes on one Redis, and an eye on what they hold. */
import { randomBytes } from 'node:crypto'
import type { Coordination } from '../../src/coordination/port.ts'
import { openRedisCoordination } from '../../src/coordination/redis/coordination.ts'
import { ALL_SHARDS, SHARDS } from '../../src/domain/shards.ts'
import { eventually } from '../support/eventually.ts'

export const LEASE_MS = 2_500
export const secret = randomBytes(32)

type Teardown = { teardown(run: () => unknown): unknown }
type NodeOptions = {
  readonly url: string
  readonly name: string
  readonly secret?: Buffer
  readonly keyPrefix?: string
  readonly problems?: string[]
}

export function openNode(t: Teardown, options: NodeOptions): Coordination {
  const node = openRedisCoordination({
    redisUrl: options.url,
    nodeId: options.name,
    leaseMs: LEASE_MS,
    secret: options.secret ?? secret,
    onProblem: problem => void options.problems?.push(problem),
    ...(options.keyPrefix === undefined ? {} : { keyPrefix: options.keyPrefix })
  })
  t.teardown(() => node.close())
  return node
}

export const ready = (...nodes: readonly Coordination[]): Promise<boolean> =>
  eventually('the nodes reach Redis', () => nodes.every(node => node.health().ok))

export const heldBy = (node: Coordination): number[] => ALL_SHARDS.filter(shard => node.leases.holds(shard))

/** Every shard has a holder, and none of these nodes more than its share. */
export const fair = (nodes: readonly Coordination[]): Promise<boolean> => {
  const counts = (): number[] => nodes.map(node => heldBy(node).length)
  const share = Math.ceil(SHARDS / nodes.length)
  return eventually(
    `${nodes.length} nodes hold fair shares of all shards`,
    () => counts().every(count => count <= share) && counts().reduce((sum, count) => sum + count) === SHARDS,
    { seen: counts }
  )
}

const SAMPLE_MS = 3

/** Looks all the time whether a shard is held by two; `stop` answers how often it looked, and whom it found. */
export function watchForDoubles(nodes: readonly Coordination[]): { stop(): { samples: number; doubles: string[] } } {
  const doubles: string[] = []
  let samples = 0
  const look = (): void => {
    samples++
    for (const shard of ALL_SHARDS) {
      const holders = nodes.filter(node => node.leases.holds(shard)).length
      if (holders > 1) doubles.push(`shard ${shard}: ${holders}`)
    }
  }
  const timer = setInterval(look, SAMPLE_MS)
  return {
    stop() {
      clearInterval(timer)
      return { samples, doubles }
    }
  }
}
