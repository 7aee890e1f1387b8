/** What the HTTP layer is handed: the service's doors. It never sees the log, the actors or the connectors. */
import type { Permission } from '../domain/tenant.ts'
import type { AuditRow, DeliveryRow, DestinationRow, KeyRow, ListPage, TrackingRow } from '../projections/port.ts'

/** Who asks. `trace` is the request's `tr_…`; commands derive their ids from it. */
export type Caller = {
  readonly tenantId: string
  readonly keyId: string
  readonly permissions: readonly Permission[]
  readonly trace: string
}

export type Refusal = {
  readonly ok: false
  /** `error.code` of the contract: the HTTP layer maps it to a status. */
  readonly code: string
  readonly details?: readonly { readonly path: string; readonly message: string }[]
}
export type Result<T> = { readonly ok: true; readonly value: T } | Refusal

export type SendInput = {
  readonly to: string
  readonly content: { readonly kind: string; readonly [member: string]: unknown }
  readonly idempotencyKey: string
  readonly replyToProviderId?: string
  readonly ttlSeconds?: number
  readonly metadata?: Readonly<Record<string, string>>
}
export type Accepted = { readonly messageId: string; readonly idempotent: boolean; readonly traceId: string }

/** The single-channel view of channel-service, Resources. */
export type ChannelView = {
  readonly id: string
  readonly kind: 'official' | 'unofficial'
  readonly provider: 'official_platform' | 'unofficial_platform'
  readonly state: string
  readonly label: string | null
  readonly number: string | null
  readonly engine: string | null
  readonly lastError: string | null
  readonly stateChangedAt: string | null
  readonly limited: { readonly active: boolean; readonly since: string | null }
  readonly restricted: { readonly active: boolean; readonly until: string | null }
  /** Present only while the deployment has the feature on. */
  readonly quarantine?: { readonly active: boolean; readonly until: string | null }
}
export type ListedChannel = ChannelView & {
  readonly tags: readonly { readonly id: string; readonly name: string; readonly color: string | null }[]
  readonly phoneNumberId: string | null
  readonly rateLimitPerMinute: number
  readonly health: null | Readonly<Record<string, unknown>>
}

export type Messages = {
  send(caller: Caller, ref: string, input: SendInput): Promise<Result<Accepted>>
  track(
    caller: Caller,
    messageId: string
  ): Promise<Result<Omit<TrackingRow, 'tenantId' | 'contactId'> & { toAddress: string }>>
}

export type AttemptView =
  | { readonly attemptId: string; readonly state: 'connecting' }
  | { readonly attemptId: string; readonly state: 'scan_qr'; readonly qr: string }
  | { readonly state: 'connected'; readonly channelId: string; readonly number: string }
  | { readonly state: 'failed'; readonly lastError?: string }
  | { readonly state: 'expired' }

export type Channels = {
  createOfficial(
    caller: Caller,
    input: {
      readonly label?: string
      readonly credentials: {
        readonly phoneNumberId: string
        readonly wabaId: string
        readonly accessToken: string
        readonly platformAppId?: string
        readonly platformAppSecret?: string
      }
    }
  ): Promise<Result<ChannelView>>
  list(
    caller: Caller,
    page: { limit: number; cursor: string | null; tag: string | null }
  ): Promise<ListPage<ListedChannel>>
  read(caller: Caller, channelId: string): Promise<Result<ChannelView & Pick<ListedChannel, 'tags'>>>
  rename(caller: Caller, channelId: string, label: string): Promise<Result<ChannelView>>
  disconnect(caller: Caller, channelId: string): Promise<Result<ChannelView>>
  remove(caller: Caller, channelId: string): Promise<Result<ChannelView>>
  audit(
    caller: Caller,
    channelId: string,
    page: { limit: number; before: string | null }
  ): Promise<Result<ListPage<AuditRow>>>
}

export type Attempts = {
  start(
    caller: Caller,
    input: {
      readonly label?: string
      readonly declaredNumber?: string
      readonly credentials?: { readonly baseUrl: string; readonly apiKey?: string }
      readonly preferredEngine?: 'webjs' | 'noweb' | 'gows'
      readonly riskAcceptance?: { readonly termsVersion: string }
    }
  ): Promise<Result<{ readonly attemptId: string; readonly state: 'connecting'; readonly qr: null }>>
  poll(caller: Caller, attemptId: string): Promise<Result<AttemptView>>
  cancel(caller: Caller, attemptId: string): Promise<Result<{ readonly cancelled: true }>>
}

export type Webhooks = {
  createDestination(
    caller: Caller,
    input: { readonly url: string }
  ): Promise<Result<DestinationRow & { readonly secret: string }>>
  destinations(caller: Caller): Promise<readonly DestinationRow[]>
  destination(caller: Caller, destinationId: string): Promise<Result<DestinationRow>>
  removeDestination(caller: Caller, destinationId: string): Promise<Result<null>>
  deliveries(
    caller: Caller,
    filter: { state?: string; destinationId?: string; eventType?: string },
    page: { limit: number; cursor: string | null }
  ): Promise<ListPage<DeliveryRow>>
}

export type Keys = {
  /** Null: missing, unknown, revoked or expired. */
  authenticate(apiKey: string): Promise<Omit<Caller, 'trace'> | null>
  create(
    caller: Caller,
    input: { readonly name: string; readonly permissions?: readonly Permission[]; readonly expiresAt?: string }
  ): Promise<Result<KeyRow & { readonly apiKey: string }>>
  list(caller: Caller): Promise<readonly KeyRow[]>
  revoke(caller: Caller, keyId: string): Promise<Result<null>>
}

/** Provider callbacks. The answer is an HTTP status: 200 when every known update is durable, 403, 400 or 503. */
export type Callbacks = {
  /** The `hub.verify_token` is one of ours. */
  knowsVerifyToken(token: string): boolean
  official(
    body: Buffer,
    signature: string | undefined,
    trace: string
  ): Promise<{ readonly status: 200 | 400 | 403 | 503 }>
  unofficial(
    reference: string,
    body: Buffer,
    headers: { readonly hmac: string | undefined; readonly algorithm: string | undefined },
    trace: string
  ): Promise<{ readonly status: 200 | 400 | 403 | 404 | 503 }>
}

export type Health = {
  /** Null when ready; else what is missing, in words for operators. */
  notReady(): string | null
  facts(): Readonly<Record<string, string | number | boolean>>
}

export type ServiceDoors = {
  readonly messages: Messages
  readonly channels: Channels
  readonly attempts: Attempts
  readonly webhooks: Webhooks
  readonly keys: Keys
  readonly callbacks: Callbacks
  readonly health: Health
}
