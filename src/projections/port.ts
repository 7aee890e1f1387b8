/** What a projection is, and what can be asked of the views. */
import type { Channel } from '../domain/channel.ts'
import type { Event } from '../domain/event.ts'
import type { MessageState } from '../domain/message-events.ts'
import type { ReportHeld, TemplateText } from '../domain/record.ts'
import type { Permission } from '../domain/tenant.ts'
import type { Decoded } from '../log/codec.ts'

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
export type Topic = 'dispatch' | 'outbox' | 'todo' | 'channel' | 'key' | 'contact' | 'held' | 'failure'
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

export type ListPage<T> = { readonly items: readonly T[]; readonly nextCursor: string | null }

export type ChannelRow = Pick<
  Channel,
  | 'id'
  | 'tenantId'
  | 'kind'
  | 'label'
  | 'number'
  | 'phoneNumberId'
  | 'wabaId'
  | 'lastError'
  | 'stateChangedAt'
  | 'limitedSince'
  | 'quarantineUntil'
> & {
  readonly state: string
  readonly engine: string | null
  readonly restrictedUntil: string | null
  /** A restriction was ever set; with `restrictedUntil` null it is open-ended. */
  readonly isRestricted: boolean
  readonly sessionName: string | null
  readonly createdPosition: number
}

export type TimelineEntry = {
  readonly state: string
  readonly outcome: 'accepted' | 'ok' | 'retry' | 'unknown' | 'failed' | 'late'
  readonly detail: { readonly code: string | null }
  readonly brokerTimestamp: string
  readonly providerTimestamp: string | null
}
export type TrackingRow = {
  readonly id: string
  readonly tenantId: string
  readonly channelId: string
  readonly contactId: string
  readonly state: string
  readonly attempts: number
  readonly lastError: string | null
  readonly traceId: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly events: readonly TimelineEntry[]
}

/** Filters of the message list (decisions §3), on the creation time with both ends included. */
export type MessageFilter = {
  readonly from?: string
  readonly to?: string
  readonly state?: string
  /** Null matches nothing: the address is of nobody we know. */
  readonly contactId?: string | null
  readonly channelId?: string
}
export type MessageRow = Omit<TrackingRow, 'events'>

/** `24h` in hours, else in days. */
export type MetricsWindow = '24h' | `${number}d`
export type MetricsBucket = {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string
  /** Start of the bucket. */
  readonly t: string
  readonly enqueued: number
  readonly dispatched: number
  readonly delivered: number
}
export type Metrics = {
  readonly granularity: 'hour' | 'day'
  /** Oldest first, empty buckets included; the last one is the present hour or day. */
  readonly series: readonly MetricsBucket[]
  readonly totals: {
    readonly enqueued: number
    readonly dispatched: number
    readonly delivered: number
    readonly failed: number
  }
  readonly window: MetricsWindow
}

export type TemplateRow = {
  readonly name: string
  readonly language: string
  readonly status: string
  readonly category: string | null
  readonly source: 'official' | 'workspace'
  readonly wabaId: string | null
  readonly text: TemplateText | null
  readonly updatedAt: string
}

export type QueueRow = {
  readonly messageNo: number
  readonly messageId: string
  readonly tenantId: string
  readonly channelId: string
  readonly contactId: string
  /** Position of admission: the order of the queue. */
  readonly position: number
  readonly state: 'queued' | 'retrying' | 'dispatching' | 'indeterminate'
  readonly attempts: number
  readonly retryAt: string | null
  readonly expiresAt: string | null
  /** When an indeterminate one is given up. */
  readonly timeoutAt: string | null
  readonly queuedAt: string
}

export type AuditRow = {
  readonly id: string
  readonly kind: string
  readonly fromState: string | null
  readonly toState: string | null
  readonly reason: string | null
  readonly source: string
  readonly activeNumber: string | null
  readonly createdAt: string
  readonly traceId: string | null
}

export type KeyRow = {
  readonly id: string
  readonly tenantId: string
  readonly name: string
  readonly permissions: readonly Permission[]
  readonly expiresAt: string | null
  readonly createdAt: string
  readonly lastFour: string
  readonly revoked: boolean
}

export type DestinationRow = {
  readonly id: string
  readonly tenantId: string
  readonly url: string
  readonly secretLast4: string
  readonly enabled: boolean
  readonly createdAt: string
}

export type DestinationHealth = { readonly failingSince: string | null; readonly lastError: string | null }
export type RiskRow = { readonly track: string; readonly termsVersion: string; readonly acceptedAt: string }

export type WebhookType =
  | 'message.sent'
  | 'message.status'
  | 'message.received'
  | 'channel.status'
  | 'channel.lifecycle'
  | 'template.updated'

export type DeliveryRow = {
  /** Order of the outbox: `position * 64 + index`, by the log event that made the delivery. Never reused. */
  readonly seq: number
  readonly id: string
  readonly eventId: string
  readonly eventType: WebhookType
  readonly tenantId: string
  readonly destinationId: string
  /** Position of the log event that it tells of. */
  readonly position: number
  /** Deliveries of one stream go out in order on their first attempt. */
  readonly streamNo: number
  readonly state: 'pending' | 'retrying' | 'delivered' | 'dead'
  readonly attempts: number
  readonly lastError: string | null
  readonly lastStatus: number | null
  readonly nextAttemptAt: string | null
  readonly createdAt: string
  readonly deliveredAt: string | null
  /** Renotify: the status to tell instead of the event's own. */
  readonly redelivery: string | null
}

/** Work that a logged event has left to do at a time (architecture, rules 3 and 8). */
export type TodoRow = {
  readonly kind:
    | 'finish_number'
    | 'finish_pairing'
    | 'expire_attempt'
    | 'fail_waiting'
    | 'release_number'
    | 'finish_destination'
    | 'finish_erasure'
  /**
   * Stream that holds what the work needs: the claim of a number, the attempt, the channel, the destination's tenant,
   * the erased contact's key (empty when it is gone already).
   */
  readonly stream: string
  /** Whom the work is about: `ch_…`, `cxn_…`, `whd_…` or `ct_…`. */
  readonly subject: string
  /** Known where the subject alone does not lead to it: `finish_erasure`. */
  readonly tenantId: string | null
  readonly due: string
}

export type HeldReport = ReportHeld['data'] & {
  readonly id: string
  readonly at: string
  readonly providerAt: string | null
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
  heldReports(channelId: string, providerIdIndex: string): readonly HeldReport[]
  /** Held reports that are not settled yet, oldest first: what a crash may have left to pair. */
  unsettledReports(limit: number): readonly HeldReport[]
  /** The channel has received from the contact, or the provider accepted a message to it. */
  knows(channelId: string, contactId: string): boolean
  /** When the channel last received from the contact (broker time). */
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
  /** Waiting messages that are expired, and indeterminate ones past their timeout, earliest first. */
  dueInQueue(now: string, limit: number): readonly (QueueRow & { due: 'expiry' | 'timeout' })[]
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
  /** Attempts that still pair, or are paired and unfinished. */
  liveAttempts(): readonly string[]
  dueTodos(now: string, limit: number): readonly TodoRow[]
  nextTodoDue(): string | null

  status(): readonly { name: string; version: number; position: number }[]
  close(): void
}
