/** What the HTTP layer is handed: the service's doors. It never sees the log, the actors or the connectors. */
import type { Readable } from 'node:stream'
import type { Permission } from '../domain/tenant.ts'
import type {
  AuditRow,
  DeliveryRow,
  DestinationRow,
  KeyRow,
  ListPage,
  Metrics,
  MetricsWindow,
  RiskRow,
  TemplateRow,
  TrackingRow
} from '../projections/port.ts'

/** Who asks. `trace` is the request's `tr_…`; commands derive their ids from it. */
export type Caller = {
  readonly tenantId: string
  readonly keyId: string
  readonly permissions: readonly Permission[]
  readonly trace: string
}

/** Whom a key stands for. */
export type Principal = Omit<Caller, 'trace'>

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

export type TrackedMessage = Omit<TrackingRow, 'tenantId' | 'contactId'> & { readonly toAddress: string }
export type ListedMessage = Omit<TrackedMessage, 'events'>

/** Of messages by the moment of their admission: `from` is included, `to` is not. */
export type MessageQuery = {
  readonly from?: string
  readonly to?: string
  readonly state?: string
  readonly recipient?: string
  readonly channelId?: string
}

export type Messages = {
  send(caller: Caller, ref: string, input: SendInput): Promise<Result<Accepted>>
  /**
   * The body of a batch as it came: JSON text that nobody has looked at. Answers with JSON text that has one outcome per
   * item, in order, when the last one is durable.
   */
  sendBatch(caller: Caller, ref: string, body: Buffer): Promise<Result<Uint8Array>>
  track(caller: Caller, messageId: string): Promise<Result<TrackedMessage>>
  list(
    caller: Caller,
    query: MessageQuery,
    page: { limit: number; cursor: string | null }
  ): Promise<ListPage<ListedMessage>>
  metrics(caller: Caller, window: MetricsWindow): Promise<Metrics>
  /** `validation_failed`: the message has no delivery status yet. */
  renotify(caller: Caller, messageId: string): Promise<Result<{ readonly enqueued: true; readonly status: string }>>
  /** The window has been checked; too many matches are `validation_failed`. */
  renotifyMany(
    caller: Caller,
    query: MessageQuery & { readonly from: string; readonly to: string }
  ): Promise<Result<{ readonly enqueued: number; readonly skipped: number }>>
}

export type Templates = {
  list(caller: Caller, page: { limit: number; cursor: string | null }): Promise<ListPage<TemplateRow>>
  save(
    caller: Caller,
    input: {
      readonly name: string
      readonly language: string
      readonly body: string
      readonly header?: string
      readonly footer?: string
    }
  ): Promise<Result<TemplateRow>>
  remove(caller: Caller, name: string): Promise<Result<null>>
}

export type Erasure = {
  erase(
    caller: Caller,
    input: { readonly contact: string }
  ): Promise<
    Result<{
      /** Masked. */
      readonly contact: string
      readonly messages: number
      readonly deliveriesCancelled: number
      readonly erasedAt: string
    }>
  >
}

export type Risks = {
  /** Terms that are not the current ones are `validation_failed`. */
  accept(caller: Caller, input: { readonly track: string; readonly termsVersion: string }): Promise<Result<RiskRow>>
  list(caller: Caller): Promise<readonly RiskRow[]>
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
  /** `risk_acceptance_required` unless `terms` are the current ones. */
  releaseLimit(caller: Caller, channelId: string, terms: string | null): Promise<Result<ChannelView>>
  releaseQuarantine(caller: Caller, channelId: string, reason: string | null): Promise<Result<ChannelView>>
  rotateCredentials(
    caller: Caller,
    channelId: string,
    credentials: {
      readonly accessToken: string
      readonly platformAppId?: string
      readonly platformAppSecret?: string
    }
  ): Promise<Result<ChannelView>>
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

export type MediaItem = {
  /** As the sender's client named it: not to be trusted. */
  readonly type: string
  readonly filename: string | null
  /** Bytes; null when nobody knows: then there are no ranges. */
  readonly size: number | null
  /** Bytes `first` to `last`, both included; null: all. Called once at most; the stream is read to its end or destroyed. */
  body(range: { readonly first: number; readonly last: number } | null): Readable
  /** For an answer without a body. */
  discard(): void
}
export type Media = {
  /** `mediaId` is the `msg_…` id of the received message. */
  open(caller: Caller, channelId: string, mediaId: string): Promise<Result<MediaItem>>
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
  /** A dead one waits again, one that waits stays as it is; a delivered one is `validation_failed`. */
  retryDelivery(caller: Caller, deliveryId: string): Promise<Result<DeliveryRow>>
}

export type Keys = {
  /** Null: missing, unknown, revoked or expired. */
  authenticate(apiKey: string): Principal | null | Promise<Principal | null>
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
  readonly media: Media
  readonly webhooks: Webhooks
  readonly templates: Templates
  readonly erasure: Erasure
  readonly risks: Risks
  readonly keys: Keys
  readonly callbacks: Callbacks
  readonly health: Health
}
