/** What the views answer with: rows as their readers know them. */
import type { Channel } from '../domain/channel.ts'
import type { ReportHeld, TemplateText } from '../domain/record.ts'
import type { Permission } from '../domain/tenant.ts'

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
  /** The person, whichever contact it was then. Null matches nothing: the address is of nobody we know. */
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
   * the contact's erasure.
   */
  readonly stream: string
  /** Whom the work is about: `ch_…`, `cxn_…`, `whd_…` or `ct_…`. */
  readonly subject: string
  readonly due: string
}

export type ErasureRow = {
  readonly contactId: string
  readonly tenantId: string
  readonly contactIds: readonly string[]
  readonly streams: readonly string[]
}

export type HeldReport = ReportHeld['data'] & {
  readonly id: string
  readonly at: string
  readonly providerAt: string | null
}
