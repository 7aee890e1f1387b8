import type { Position } from './port.ts'

/** An event as it is found, wherever the log is kept. */
export type FoundEvent = {
  readonly position: Position
  readonly streamNo: number
  readonly revision: number
  readonly hash: string
  /** Null when the content cannot be there: the stream was erased, or an export leaves it out. */
  readonly content: FoundContent | null
}

export type FoundContent = {
  readonly stream: string
  readonly id: string
  readonly type: string
  readonly body: string
  readonly meta: string
}

/** What the log says of a stream beside its events. */
export type FoundStream = {
  readonly no: number
  readonly name: string | null
  readonly revision: number
  readonly hash: string
}

/** A log to be verified. Methods throw when the log cannot be read; what they gave until then holds. */
export type VerifySource = {
  /** Every position is used: a gap means that events are missing. */
  readonly dense: boolean
  /** False where a scavenge may take the events of erased key streams away: then anchors leave key streams out. */
  readonly anchorsCoverKeys: boolean
  /** The newest position that was ever given, where the log keeps it. */
  readonly highest: () => Position | null
  /** All events in log order after a position, in pages; of one stream when it is named. */
  events(after: Position, stream?: string): AsyncIterable<readonly FoundEvent[]>
  /** The streams by the log's own books, in pages; nothing when it keeps none. */
  streams(stream?: string): Iterable<readonly FoundStream[]>
  /** Holds the log still from here on, so that the newest events and the books can be compared. */
  freeze(): void
  /** What the storage itself finds wrong. */
  complaints(): readonly string[]
  close(): void
}
