/**
 * What nodes share: who works which shard, how fast a number may send, how often a key may ask, what is short-lived, and
 * a way to wake each other. One home in this process for a single node, one in Redis. Nothing here is the truth: the log
 * is, and its revisions are the fence should two nodes ever hold one shard.
 */
import type { Time } from './time.ts'

export type Coordination = {
  readonly leases: Leases
  /** The bucket of this key; the same key means the same tokens on every node. `perMinute` 0 = unlimited. */
  bucket(key: string, perMinute: number): Bucket
  /** Counts one request. A window of a minute begins with the key's first; `limitPerMinute` 0 = unlimited. */
  hit(key: string, limitPerMinute: number): Hit | Promise<Hit>
  readonly ephemeral: Ephemeral
  /** Best effort, to every listener on every node, this one included. At most 4 KiB of text, without secrets. */
  announce(topic: string, text: string): void
  /** The returned function ends it. What was announced before it took hold is missed. */
  subscribe(topic: string, listener: (text: string) => void): () => void
  health(): CoordinationHealth
  /** Leaves the leases, ends connections and timers; bounded. */
  close(): Promise<void>
}

export type Leases = {
  /** Takes part from now on: announces this node and takes its share. */
  join(): void
  /** This node works the shard now: cheap enough to ask before every step. */
  holds(shard: number): boolean
  /** The same for the shard of a channel, an attempt or a destination. */
  owns(id: string): boolean
  /** Tells of changes, and at once of what is held already. The returned function ends it. */
  watch(watcher: LeaseWatcher): () => void
  /** Gives everything back, so that others take over at once, after `onLost` had its (bounded) time. Final. */
  leave(): Promise<void>
}

export type LeaseWatcher = {
  onAcquired(shards: readonly number[]): void
  /**
   * `holds` is already false: start nothing more there. When the shards are given up in an orderly way nobody else gets
   * them before the promise resolves or its time is over.
   */
  onLost(shards: readonly number[]): void | Promise<void>
}

/** A burst of a tenth of the rate, at least 1 (decisions §1, RATE_LIMIT_PER_MINUTE). */
export type Bucket = {
  /** Takes a token; false when there is none now. A promise only where another process must be asked. */
  take(): boolean | Promise<boolean>
  /** Gives back a token that was not used. */
  giveBack(): void
  /** Milliseconds until it is worth asking again; 0 when it is now. */
  waitMs(): number
}

export type Hit = {
  readonly allowed: boolean
  readonly remaining: number
  /** Until the window ends. */
  readonly resetMs: number
}

/** Values that may vanish at any time: at the end of their `ttlMs`, or earlier when there are too many. */
export type Ephemeral = {
  /** More than 256 KiB is not kept. */
  put(key: string, value: string | Buffer, ttlMs: number): Promise<void>
  get(key: string): Promise<Buffer | null>
  delete(key: string): Promise<void>
}

/** `reason`: what is missing, in words for operators; null when nothing is. */
export type CoordinationHealth = { readonly ok: boolean; readonly reason: string | null }

export type CoordinationOptions = {
  readonly time?: Time
  /** Something went wrong and will be tried again, or a listener or watcher threw. Told once, not with every retry. */
  readonly onProblem?: (problem: string, error: unknown) => void
}
