/** Those who work shards, told together. What they throw is a problem of theirs, not of the leases. */
import type { LeaseWatcher } from './port.ts'

export type LeaseWatchers = {
  add(watcher: LeaseWatcher, held: readonly number[]): () => void
  acquired(shards: readonly number[]): void
  /** Resolves when all have let go; never rejects. */
  lost(shards: readonly number[]): Promise<unknown>
}

export function createLeaseWatchers(onProblem: (problem: string, error: unknown) => void): LeaseWatchers {
  const watchers = new Set<LeaseWatcher>()

  function tellAcquired(watcher: LeaseWatcher, shards: readonly number[]): void {
    try {
      if (shards.length > 0) watcher.onAcquired(shards)
    } catch (error) {
      onProblem('a worker could not take over its shards', error)
    }
  }

  async function tellLost(watcher: LeaseWatcher, shards: readonly number[]): Promise<void> {
    try {
      await watcher.onLost(shards)
    } catch (error) {
      onProblem('a worker could not let go of its shards', error)
    }
  }

  return {
    add(watcher, held) {
      const own: LeaseWatcher = {
        onAcquired: shards => watcher.onAcquired(shards),
        onLost: shards => watcher.onLost(shards)
      }
      watchers.add(own)
      tellAcquired(own, held)
      return () => void watchers.delete(own)
    },
    acquired(shards) {
      for (const watcher of [...watchers]) tellAcquired(watcher, shards)
    },
    lost: shards =>
      shards.length === 0 ? Promise.resolve() : Promise.all([...watchers].map(watcher => tellLost(watcher, shards)))
  }
}
