/** What a message is told: by its sender, by the dispatcher, by the provider's reports. */
import type { ProviderSecrets, QueuedSecrets, ReportStatus } from './message-events.ts'

/** The answer of one dispatch, as far as the message cares. */
export type DispatchAnswer =
  | ({ readonly kind: 'sent'; readonly providerIdIndex: string } & { readonly secrets: ProviderSecrets })
  | {
      readonly kind: 'refused'
      readonly code: string
      readonly providerCode: string | null
      readonly secrets: ProviderSecrets | null
    }
  | {
      readonly kind: 'retry'
      readonly code: string
      readonly retryAt: string
      readonly maxAttempts: number
      readonly scope: 'message' | 'recipient'
      readonly providerCode: string | null
      readonly secrets: ProviderSecrets | null
    }
  | {
      readonly kind: 'channel_trouble'
      readonly code: string
      readonly retryAt: string
      readonly secrets: ProviderSecrets | null
    }
  | {
      readonly kind: 'unknown'
      readonly code: string
      readonly timeoutAt: string
      readonly secrets: ProviderSecrets | null
    }

export type Report = {
  readonly status: ReportStatus
  readonly code: string | null
  /** In place of `code` when the message is a reaction; null: no difference. */
  readonly reactionCode: string | null
  readonly providerCode: string | null
  readonly providerAt: string | null
  readonly providerIdIndex: string | null
  readonly secrets: ProviderSecrets | null
}

export type MessageCommand =
  | {
      readonly type: 'Queue'
      readonly at: string
      readonly messageId: string
      readonly tenantId: string
      readonly channelId: string
      readonly contactId: string
      readonly contentKind: string
      readonly replyTo: string | null
      readonly ttlSeconds: number | null
      readonly secrets: QueuedSecrets
    }
  | { readonly type: 'StartDispatch'; readonly at: string; readonly dispatchId: string }
  | { readonly type: 'RecordAnswer'; readonly at: string; readonly attempt: number; readonly answer: DispatchAnswer }
  | { readonly type: 'MarkIndeterminate'; readonly at: string; readonly attempt: number; readonly timeoutAt: string }
  | { readonly type: 'TimeOut'; readonly at: string }
  | { readonly type: 'FailWaiting'; readonly at: string; readonly code: string }
  | { readonly type: 'RecordReport'; readonly at: string; readonly channelId: string; readonly report: Report }
  | { readonly type: 'Renotify'; readonly at: string }
