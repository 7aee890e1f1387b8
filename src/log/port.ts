/**
 * The event log: where everything that happened is written, once, in order, for ever.
 * Homes: `sqlite` (embedded, one process) and `eventstore` (EventStoreDB). One contract suite runs on each.
 */

/** Global order of the log. Starts at 1, never reused, grows with every event (it may have gaps). */
export type Position = number

/** The revision of a stream's newest event that an append requires: -1 means "no stream yet". */
export type Expected = number
export const NO_STREAM: Expected = -1

/** An event as it is handed to the log: encoded once, so that a repeat sends the same bytes. */
export type NewEvent = {
  /** `evt_…`, derived from (stream, command id, index): the same append repeated is recognised by it. */
  readonly id: string
  readonly type: string
  /** JSON text: `{ v, data, sealed? }`. At most MAX_EVENT_BYTES together with `meta`. */
  readonly body: string
  /** JSON text of EventMeta. The hash chain covers it. */
  readonly meta: string
}

export type EventMeta = {
  /** `tn_…`, or null for events of the service itself. */
  readonly tenant: string | null
  readonly trace: string | null
  /** Id of the event that this one reacts to. */
  readonly cause: string | null
  /** Who appended it: `api`, `callback`, `dispatcher`, `supervisor`, … */
  readonly source: string
  /** Broker time, ISO 8601 UTC with milliseconds. */
  readonly at: string
  /** The provider's own time, when it gave one. */
  readonly providerAt?: string
  /** Whose key seals the body's `sealed` part: a contact id (`ct_…`) or `tenant`. */
  readonly subject?: string
}

export type RecordedEvent = NewEvent & {
  readonly position: Position
  readonly stream: string
  /** The log's own small number of the stream: views key their rows by it. Stable for the life of the log. */
  readonly streamNo: number
  readonly revision: number
  /** SHA-256 over (stream, revision, id, type, body, meta, the stream's previous hash); lower-case hex. */
  readonly hash: string
}

/** Durable. `position` and `revision` are those of the append's last event. */
export type Appended = {
  readonly kind: 'appended'
  readonly position: Position
  readonly revision: number
  /** True when the very same events (by id) stood there already. */
  readonly repeated: boolean
}
/** Somebody else wrote first; nothing was written. `revision` is the stream's newest, -1 when it does not exist. */
export type Conflict = { readonly kind: 'conflict'; readonly revision: number }
/** The stream was erased; its name can never be used again. */
export type Deleted = { readonly kind: 'deleted' }
/** The append itself is wrong (too large, empty, a repeated id with another content); nothing was written. */
export type Invalid = { readonly kind: 'invalid'; readonly reason: string }
export type AppendResult = Appended | Conflict | Deleted | Invalid

/** An event that another append depends on: what is sealed under a key must not outlive a key that was never written. */
export type Need = {
  readonly stream: string
  readonly eventId: string
  /** The needed append waits among those of batches, so what needs it has to wait there too. */
  readonly isBulk: boolean
}

export type AppendOptions = {
  /** Only where the log is `ordered`. Unless that event is the first of its stream, nothing is written, and it throws. */
  readonly need?: Need | undefined
  /** One of very many: the appends of single requests go before it. The order among such appends stays. */
  readonly isBulk?: boolean | undefined
}

export type ReadOptions = {
  /** First revision to return (inclusive). Forwards default 0; backwards default: the newest. */
  readonly from?: number
  readonly direction?: 'forwards' | 'backwards'
  readonly limit?: number
}

export type Follower = {
  /** Stops after the page that is being handled. */
  close(): Promise<void>
}

export type EventLog = {
  /** Atomic. Resolves when the events are durable; throws only when the outcome is unknown or the log cannot be written. */
  append(
    stream: string,
    expected: Expected,
    events: readonly NewEvent[],
    options?: AppendOptions
  ): Promise<AppendResult>
  /** Resolves when all appends that were handed over before are over, well or not. */
  settled(): Promise<void>
  /**
   * Where appends of one kind (single, bulk) reach the log in the order in which they were handed over, and where it is known
   * at once whether a stream exists: an append may then need one that is still under way.
   */
  readonly ordered?: { standing(stream: string): 'none' | 'live' | 'erased' }
  /** The stream's events; nothing for a stream that does not exist or was erased. */
  read(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>
  /** One event by position, or null. */
  at(position: Position): Promise<RecordedEvent | null>
  /** All streams in global order after `after`: catches up, then follows live. A page is never empty; the next one waits for `onPage`. */
  follow(after: Position, onPage: (page: readonly RecordedEvent[]) => Promise<void> | void): Follower
  /** Removes a key stream's content for good (also from the files). A tombstone stays. Idempotent. */
  erase(stream: string): Promise<void>
  /** Position of the newest durable event, 0 when the log is empty. */
  head(): Promise<Position>
  /** The stream's number, or null when this home does not know the stream (yet). */
  numberOf(stream: string): number | null
  close(): Promise<void>
}

export const MAX_EVENT_BYTES = 256 * 1024
export const MAX_APPENDS_PER_COMMIT = 256

/** The log cannot take writes now (full disk, read-only file, closed): callers answer 503 `overloaded`. */
export class LogUnavailable extends Error {
  override readonly name = 'LogUnavailable'
}
