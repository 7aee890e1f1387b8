/** Work is dealt out in shards: every channel, attempt and destination belongs to one, by the hash of its id. */
export const SHARDS = 256

/** FNV-1a, its halves folded together. Part of what nodes agree on: changing it moves all work at once. */
export function shardOf(id: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193)
  hash ^= hash >>> 16
  return (hash ^ (hash >>> 8)) & (SHARDS - 1)
}

export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard)
