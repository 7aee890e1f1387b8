/** Coordination between nodes: Redis where the settings name one, else within this process. */
import type { Logger } from '../actors/core.ts'
import type { Settings } from '../config/settings.ts'
import { createLocalCoordination } from '../coordination/local.ts'
import type { Coordination } from '../coordination/port.ts'
import { openRedisCoordination } from '../coordination/redis/coordination.ts'
import type { Storage } from './storage.ts'

/** `isShared`: other nodes may hold the same streams. */
export function openCoordination(
  settings: Settings,
  storage: Pick<Storage, 'master'>,
  logger: Logger
): Coordination & { readonly isShared: boolean } {
  const { redisUrl } = settings.storage
  const onProblem = (problem: string, error: unknown): void => logger.warn({ err: error }, problem)
  if (redisUrl === null) return { ...createLocalCoordination({ onProblem }), isShared: false }
  const redis = openRedisCoordination({
    redisUrl,
    nodeId: settings.nodeId,
    leaseMs: settings.cluster.leaseMs,
    secret: storage.master.derive('ephemeral'),
    onProblem
  })
  return { ...redis, isShared: true }
}
