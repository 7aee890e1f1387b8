/** What a projection is, and what can be asked of the views. */
import type { Event } from '../domain/event.ts'
import type { MessageState } from '../domain/message-events.ts'
import type { Decoded } from '../log/codec.ts'
import type {
  AuditRow,
  ChannelRow,
  DeliveryRow,
  DestinationHealth,
  DestinationRow,
  ErasureRow,
  HeldReport,
  KeyRow,
  ListPage,
  MessageFilter,
  MessageRow,
  Metrics,
  MetricsWindow,
  QueueRow,
  RiskRow,
  TemplateRow,
  TodoRow,
  TrackingRow
} from './rows.ts'

export type * from './rows.ts'

type Place = { readonly stream: string; readonly streamNo: number }
export type Recorded = Decoded & Place
/** A recorded event whose type is known. */
export type RecordedOf<E extends Event> = Decoded<E> & Place

export type ColumnType = 'INTEGER' | 'TEXT'
export type Table = {
  readonly name: string
  /** Columns in order; the first `keyLength` of them are the primary key. */
  readonly columns: Readonly<Record<string, ColumnType>>
  readonly keyLength: number
  /** `CREATE INDEX` bodies, for instance `(channelId, position) WHERE state = 'queued'`. Built last on a rebuild. */
  readonly indexes: readonly string[]
  /** Columns that a row keeps for life: an update leaves them, and the indexes on them, alone. */
  readonly fixed?: readonly string[]
  /** The rows live in the primary key's own tree: for keys of text. */
  readonly withoutRowid?: boolean
}
export type Row = Record<string, string | number | null>
export type Key = readonly (string | number)[]

/** The rows of one page of events: each is loaded once, folded in memory and written once. */
export type Rows = {
  get<R extends Row>(table: Table, key: Key): R | undefined
  put(table: Table, row: Row): void
  delete(table: Table, key: Key): void
}

/** Who wants to know that something changed: handed to the main thread after the page is committed. */
export type Topic =
  /** Messages of a number have moved on after they were queued. */
  | 'dispatch'
  /** The queue of a number has rows or moments that nobody can know of yet. */
  | 'queue'
  | 'outbox'
  | 'todo'
  | 'channel'
  | 'destination'
  | 'key'
  | 'contact'
  | 'relinked'
  | 'held'
  | 'failure'
export type Touch = (topic: Topic, id: string) => void

/** Pure: same events, same rows, byte for byte. No clock, no randomness, no order of iteration that is not the log's. */
export type Projection = {
  readonly name: string
  /** Raised when rows or tables change their meaning: the views are then rebuilt before the node is ready. */
  readonly version: number
  readonly tables: readonly Table[]
  /** Event types that it reads. */
  readonly handles: readonly string[]
  apply(event: Recorded, rows: Rows, touch: Touch): void
}

export type PageDone = {
  readonly position: number
  readonly touched: Readonly<Partial<Record<Topic, readonly string[]>>>
}

/** All answers come from rows on local disk, synchronously. */
export type Views = {
  /** Resolves when the views have passed `position`, at the latest after `limitMs` (architecture, rule 7). */
  caughtUp(position: number, limitMs?: number): Promise<boolean>
  position(): number
  onPage(listener: (page: PageDone) => void): void

  /** The channel by id, a deleted one too. */
  channel(tenantId: string, channelId: string): ChannelRow | null
  /** Any channel of any tenant, deleted ones too: for events that tell of it. */
  channelById(channelId: string): ChannelRow | null
  /** Live channel by id or number. */
  channelByRef(tenantId: string, ref: string): ChannelRow | null
  /** Every channel that ever stood for this number, the live one first: late reports of deleted ones still count. */
  channelsByPhoneNumberId(phoneNumberId: string): readonly ChannelRow[]
  channelsOfWaba(wabaId: string): readonly ChannelRow[]
  channels(tenantId: string, limit: number, cursor: string | null): ListPage<ChannelRow>
  /** All that are not deleted, oldest first. */
  channelIds(): readonly string[]
  audit(channelId: string, limit: number, before: string | null): ListPage<AuditRow>
  auditAt(channelId: string, position: number): AuditRow | null

  tracking(tenantId: string, messageId: string): TrackingRow | null
  messageByProviderId(channelId: string, providerIdIndex: string): string | null
  /** The channel has a message in flight or in doubt: an unknown report may be its own. */
  hasInDoubt(channelId: string): boolean
  /** How many reports of the channel were held since then and are not settled. */
  heldSince(channelId: string, since: string): number
  /** Channels with held reports that are not settled: what a crash may have left to pair. */
  channelsWithHeldReports(): readonly string[]
  /** Those of a channel that were held since then, newest first. */
  unsettledReports(channelId: string, since: string, limit: number): readonly HeldReport[]
  /** The channel has received from the person, whichever contact it was then, or the provider accepted a message to it. */
  knows(channelId: string, contactId: string): boolean
  /** When the channel last received from the person (broker time). */
  lastInboundAt(channelId: string, contactId: string): string | null
  /** The tenant's contact of this blind index wants no more messages. */
  isOptedOut(tenantId: string, index: string): boolean
  /**
   * Failures of the channel's messages that the provider caused, later than `since` and than the last release of the
   * channel's limit (decisions §1, BREAKER_FAILURES). Counts up to 1,000.
   */
  failuresSince(channelId: string, since: string): number

  /** The message list, newest first (decisions §3). Throws BadCursor. */
  messages(tenantId: string, filter: MessageFilter, limit: number, cursor: string | null): ListPage<MessageRow>
  /** The same messages, newest first, at most `limit`: for work on all of them. */
  messageStates(
    tenantId: string,
    filter: MessageFilter,
    limit: number
  ): readonly { readonly id: string; readonly state: MessageState }[]
  /** Queued and retrying messages to a contact, oldest first. */
  waitingFor(tenantId: string, contactId: string, limit: number): readonly QueueRow[]
  /** How many messages were admitted for the contact. */
  messagesOf(tenantId: string, contactId: string): number
  /** Counts of the window that ends with `now`. */
  metrics(tenantId: string, window: MetricsWindow, now: string): Metrics

  /** Own ones and those of the official platform, in the order in which they came to be known. Throws BadCursor. */
  templates(tenantId: string, limit: number, cursor: string | null): ListPage<TemplateRow>
  /** The tenant's own one, else an official one whose text is known. */
  template(tenantId: string, name: string, language: string): TemplateRow | null
  /** All of one name: own and official ones, every language and WABA. */
  templatesNamed(tenantId: string, name: string): readonly TemplateRow[]

  /** Channels that have waiting messages. */
  channelsWithWork(): readonly string[]
  /** Queued messages of a channel admitted after `afterPosition`, in admission order. */
  queuedAfter(channelId: string, afterPosition: number, limit: number): readonly QueueRow[]
  /** Waiting retries of a channel whose time has come, in admission order. */
  dueRetries(channelId: string, now: string, limit: number): readonly QueueRow[]
  /** All messages of a channel in one state, in admission order, at most `limit`. */
  queued(channelId: string, state: QueueRow['state'], limit: number): readonly QueueRow[]
  dispatching(): readonly QueueRow[]
  /** Earliest moment at which a waiting retry of this channel is due, past or not; null: none waits. */
  nextRetryDue(channelId: string): string | null
  /** Earliest expiry of a waiting message or timeout of an indeterminate one, of all channels; null: none. Retries are not meant. */
  nextQueueDue(): string | null
  /** Waiting messages of these shards that are expired, and indeterminate ones past their timeout, earliest first. */
  dueInQueue(
    now: string,
    shards: readonly number[],
    limit: number
  ): readonly (QueueRow & { due: 'expiry' | 'timeout' })[]
  /** Waiting messages, and when the oldest of them was admitted. */
  queueDepth(channelId: string): { readonly depth: number; readonly oldestAt: string | null }

  keyByDigest(digest: string): KeyRow | null
  /** Oldest first, revoked ones included. */
  keys(tenantId: string): readonly KeyRow[]
  tenantByName(name: string): string | null
  tenantIds(): readonly string[]
  hasRisk(tenantId: string, track: string, termsVersion: string): boolean
  /** Oldest first. */
  risks(tenantId: string): readonly RiskRow[]

  destination(tenantId: string, destinationId: string): DestinationRow | null
  destinations(tenantId: string): readonly DestinationRow[]
  /** Since when every attempt has failed, with the last error; nulls after a success. */
  destinationHealth(destinationId: string): DestinationHealth
  /** Destinations that have unsettled deliveries. */
  destinationsWithWork(): readonly string[]
  /** Deliveries of a destination never tried yet, after `afterSeq`, in order. */
  pendingDeliveries(destinationId: string, afterSeq: number, limit: number): readonly DeliveryRow[]
  /** Deliveries whose `nextAttemptAt` has come (retries, and dead ones taken up again, which are `pending`), oldest first. */
  dueDeliveryRetries(destinationId: string, now: string, limit: number): readonly DeliveryRow[]
  /** Earliest moment at which a retry of this destination is due, past or not; null: none waits. */
  nextDeliveryDue(destinationId: string): string | null
  delivery(tenantId: string, deliveryId: string): DeliveryRow | null
  deliveries(
    tenantId: string,
    filter: { state?: string; destinationId?: string; eventType?: string },
    limit: number,
    cursor: string | null
  ): ListPage<DeliveryRow>

  /**
   * Pending and retrying deliveries that carry data of the contact: `message.sent` and `message.received` of its messages.
   */
  unsettledDeliveriesOf(tenantId: string, contactId: string, limit: number): readonly DeliveryRow[]

  /** The key stream of a contact, null when it was erased or never known. */
  contactStream(contactId: string): string | null
  /** The same person: all its contacts, this one among them, and the key streams of all its addresses. */
  identities(contactId: string): { readonly contactIds: readonly string[]; readonly streams: readonly string[] }
  /** What a recorded erasure takes, until it is completed; null: there is nothing left to do. */
  erasure(contactId: string): ErasureRow | null
  /** All that are not completed. */
  unfinishedErasures(): readonly ErasureRow[]
  /** Attempts that still pair, or are paired and unfinished. */
  liveAttempts(): readonly string[]
  /** Sessions that an instance hosts: of attempts that are not over and of numbers that are not deleted. */
  sessionsOn(baseUrl: string): number
  /** How many of its instance's live sessions were placed before this one; null when it is not placed any more. */
  sessionsBefore(session: string): number | null
  /** What is due in these shards, after a row of the page before. */
  dueTodos(now: string, shards: readonly number[], limit: number, after?: TodoRow): readonly TodoRow[]
  /** When the next thing is due in these shards, past or not; null: nothing is left to do there. */
  nextTodoDue(shards: readonly number[]): string | null

  status(): readonly { name: string; version: number; position: number }[]
  close(): void
}
