/** Events without a decider of their own: facts that are recorded as they come. */
import type { ChannelKind } from './channel.ts'
import type { Event } from './event.ts'
import type { ReportStatus } from './message-events.ts'

/** `message-msg_…` of an inbound message: the derived id makes a repeated callback one event. */
export type MessageReceived = Event<
  'MessageReceived',
  {
    readonly messageId: string
    readonly tenantId: string
    readonly channelId: string
    readonly channelKind: ChannelKind
    readonly contactId: string
    readonly contentKind: string
    readonly providerIdIndex: string
    /** Blind index of the quoted message's provider id. */
    readonly quotedIndex?: string
    /** Blind index of a reaction's target. */
    readonly targetIndex?: string
  },
  { readonly from: string; readonly providerId: string; readonly message: unknown; readonly profileName?: string }
>

/** `inbox-ch_…`: a report whose provider id nobody knows yet (architecture, rule 5). */
export type ReportHeld = Event<
  'ReportHeld',
  {
    readonly channelId: string
    readonly providerIdIndex: string
    readonly status: ReportStatus
    readonly code?: string
    readonly providerCode?: string
  }
>
export type ReportSettled = Event<'ReportSettled', { readonly heldId: string }>

/** `keys-tn_…`: the tenant's own keys, wrapped by the master key. */
export type TenantKeysCreated = Event<
  'TenantKeysCreated',
  { readonly tenantId: string; readonly generation: number; readonly wrapped: string; readonly masterKeyId: string }
>
/** `keys-tn_….<blind index>.<generation>`: a contact's key, wrapped by the tenant's key-encryption key. */
export type ContactKeyCreated = Event<
  'ContactKeyCreated',
  { readonly contactId: string; readonly tenantId: string; readonly index: string; readonly wrapped: string },
  { readonly address: string }
>
/**
 * The same streams: from here on the address is that of a contact whose key stands in `keyStream`. The stream's first
 * event when the address had no key of its own, else a later one; `former` is then the contact that it was until now.
 */
export type ContactLinked = Event<
  'ContactLinked',
  {
    readonly contactId: string
    readonly tenantId: string
    readonly index: string
    readonly keyStream: string
    readonly former?: string
  }
>
/** `keys-anchor`: the key that signs anchors, wrapped by the master key. */
export type AnchorKeyCreated = Event<
  'AnchorKeyCreated',
  { readonly publicKey: string; readonly wrapped: string; readonly masterKeyId: string }
>

export type DeliveryOutcome = {
  readonly deliveryId: string
  /** Position of the event that the delivery tells of. */
  readonly position: number
  readonly destinationId: string
  readonly state: 'delivered' | 'retrying' | 'dead'
  readonly attempt: number
  readonly at: string
  readonly status: number | null
  readonly error: string | null
  readonly durationMs: number
  readonly nextAttemptAt?: string
}
/** `outcomes-<shard>-<yyyymmdd>`: at most 256 outcomes of webhook deliveries. */
export type DeliveriesSettled = Event<'DeliveriesSettled', { readonly outcomes: readonly DeliveryOutcome[] }>
/** `outcomes-<shard>-<yyyymmdd>`: dead deliveries, at most 256 of them, are to be tried again at once. */
export type DeliveriesRetried = Event<'DeliveriesRetried', { readonly deliveryIds: readonly string[] }>

/**
 * `erasure-ct_…`: recorded before any key stream is erased, so that a half-done erasure is completed later.
 * `linked`: the contacts that go with it, as they are the same person.
 */
export type ContactErased = Event<
  'ContactErased',
  { readonly contactId: string; readonly tenantId: string; readonly linked?: readonly string[] }
>
/** `erasure-ct_…`: the key of the contact and of those linked with it, their waiting messages and media are gone. */
export type ContactErasureCompleted = Event<
  'ContactErasureCompleted',
  { readonly contactId: string; readonly tenantId: string }
>

/** `link`: the same person has said so under another address. */
export type OptOutSource = 'keyword' | 'platform' | 'link'
/** `optout-tn_….<blind index>`: a keyed hash is all that is kept, so that the wish outlives an erasure. */
export type ContactOptedOut = Event<
  'ContactOptedOut',
  { readonly tenantId: string; readonly index: string; readonly by: OptOutSource }
>
export type ContactOptedIn = Event<
  'ContactOptedIn',
  { readonly tenantId: string; readonly index: string; readonly by: OptOutSource }
>

/** Where a template's text comes from: the tenant itself, or the platform's list of a WABA. */
export type TemplateText = { readonly body: string; readonly header?: string; readonly footer?: string }
/** `templates-tn_…`: what the workspace knows of its templates. */
export type TemplateSaved = Event<
  'TemplateSaved',
  { readonly name: string; readonly language: string; readonly text: TemplateText }
>
export type TemplateRemoved = Event<'TemplateRemoved', { readonly name: string }>
export type TemplateObserved = Event<
  'TemplateObserved',
  {
    readonly wabaId: string
    /** The number whose news it was, or that was read for. */
    readonly channelId: string
    readonly name: string
    readonly language: string
    readonly status: string
    readonly category?: string
    readonly text?: TemplateText
    /** The platform said that the status changed: `template.updated` goes out. */
    readonly isNews?: true
  }
>
