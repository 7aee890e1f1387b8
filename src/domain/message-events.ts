/** What can happen to a message. The stored shapes: change them only with a new version and an upcaster. */
import type { Event } from './event.ts'

export type MessageState =
  | 'none'
  | 'queued'
  | 'dispatching'
  | 'retrying'
  | 'indeterminate'
  | 'sent'
  | 'delivered'
  | 'read'
  | 'failed'

export type ReportStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** What only the contact's key opens. Shapes of content: the connector port. */
export type QueuedSecrets = {
  readonly to: string
  readonly content: unknown
  readonly metadata?: Readonly<Record<string, string>>
  /** A raw provider id as the client gave it. */
  readonly replyToRaw?: string
}
export type ProviderSecrets = { readonly providerId?: string; readonly address?: string; readonly detail?: string }

export type Queued = Event<
  'MessageQueued',
  {
    readonly messageId: string
    readonly tenantId: string
    readonly channelId: string
    readonly contactId: string
    readonly contentKind: string
    /** The `msg_…` that it quotes. */
    readonly replyTo?: string
    readonly expiresAt?: string
  },
  QueuedSecrets
>
export type DispatchStarted = Event<'MessageDispatchStarted', { readonly attempt: number; readonly dispatchId: string }>
export type Sent = Event<
  'MessageSent',
  { readonly attempt: number; readonly by: 'answer' | 'report'; readonly providerIdIndex?: string },
  ProviderSecrets
>
export type ProviderIdLearned = Event<'MessageProviderIdLearned', { readonly providerIdIndex: string }, ProviderSecrets>
export type RetryScheduled = Event<
  'MessageRetryScheduled',
  {
    readonly attempt: number
    readonly code: string
    readonly retryAt: string
    /** The channel, not the message, was the trouble: the attempt is not counted. */
    readonly channelTrouble?: true
    /** Only this recipient is slowed down. */
    readonly scope?: 'recipient'
  },
  ProviderSecrets
>
export type DispatchUnknown = Event<
  'MessageDispatchUnknown',
  { readonly attempt: number; readonly code: string; readonly timeoutAt: string },
  ProviderSecrets
>
export type Delivered = Event<'MessageDelivered', Record<never, never>>
export type Read = Event<'MessageRead', Record<never, never>>
export type Failed = Event<
  'MessageFailed',
  {
    readonly code: string
    /** Who decided it: we, or the provider (counts for the breaker). */
    readonly by: 'service' | 'provider'
    /** The last attempt's own code, where `code` is `retries_exhausted`. */
    readonly cause?: string
    readonly providerCode?: string
  },
  ProviderSecrets
>
/** A report that moved nothing: `ok` for the platform's own first `sent`, else `late`. */
export type ReportNoted = Event<
  'MessageReportNoted',
  { readonly status: ReportStatus; readonly outcome: 'ok' | 'late'; readonly code?: string }
>
export type RenotifyRequested = Event<'MessageRenotifyRequested', { readonly status: ReportStatus }>

export type MessageEvent =
  | Queued
  | DispatchStarted
  | Sent
  | ProviderIdLearned
  | RetryScheduled
  | DispatchUnknown
  | Delivered
  | Read
  | Failed
  | ReportNoted
  | RenotifyRequested
