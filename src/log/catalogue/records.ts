import { z } from 'zod'
import type { Event } from '../../domain/event.ts'
import type {
  AnchorKeyCreated,
  ContactErased,
  ContactErasureCompleted,
  ContactKeyCreated,
  ContactLinked,
  ContactOptedIn,
  ContactOptedOut,
  DeliveriesRetried,
  DeliveriesSettled,
  MessageReceived,
  ReportHeld,
  ReportSettled,
  TemplateObserved,
  TemplateRemoved,
  TemplateSaved,
  TenantKeysCreated
} from '../../domain/record.ts'
import type { Anchor } from '../anchors.ts'
import { definitionsOf } from './definition.ts'
import { base64, blindIndex, count, hex, id, text, time, word } from './fields.ts'

type RecordEvent =
  | MessageReceived
  | ReportHeld
  | ReportSettled
  | TenantKeysCreated
  | ContactKeyCreated
  | ContactLinked
  | AnchorKeyCreated
  | Event<'AnchorWritten', Anchor>
  | DeliveriesSettled
  | DeliveriesRetried
  | ContactErased
  | ContactErasureCompleted
  | ContactOptedOut
  | ContactOptedIn
  | TemplateSaved
  | TemplateRemoved
  | TemplateObserved

const masterKeyId = hex(16).describe('which master key wrapped it, without telling the key')
/** At most this many go into one `DeliveriesSettled` or `DeliveriesRetried`. */
const OUTCOMES_MAX = 256

const contactKeyIndex = z
  .string()
  .regex(/^[0-9a-hjkmnp-tv-z]{26}$/)
  .meta({ title: 'blind index, 26 characters' })

const optOutData = z.strictObject({
  tenantId: id('tn'),
  index: contactKeyIndex,
  by: z.enum(['keyword', 'platform', 'link'])
})

const templateText = z.strictObject({
  body: z.string(),
  header: z.string().exactOptional(),
  footer: z.string().exactOptional()
})

const outcome = z.strictObject({
  deliveryId: id('dlv'),
  position: count.describe('position of the event that the delivery tells of'),
  destinationId: id('whd'),
  state: z.enum(['delivered', 'retrying', 'dead']),
  attempt: count.min(1),
  at: time,
  status: z.int().nullable().describe('HTTP status, null when no answer came'),
  error: z.string().nullable(),
  durationMs: z.number().min(0),
  nextAttemptAt: time.exactOptional()
})

export const recordDefinitions = definitionsOf<RecordEvent>()({
  MessageReceived: {
    stream: 'message-msg_…',
    by: 'callback',
    about: 'A contact wrote to a number. The derived id makes a repeated callback one event.',
    data: z.strictObject({
      messageId: id('msg'),
      tenantId: id('tn'),
      channelId: id('ch'),
      channelKind: z.enum(['official', 'unofficial']),
      contactId: id('ct'),
      contentKind: word,
      providerIdIndex: blindIndex,
      quotedIndex: blindIndex.exactOptional().describe("of the quoted message's provider id"),
      targetIndex: blindIndex.exactOptional().describe("of the provider id of a reaction's target")
    }),
    sealed: z.strictObject({
      from: text(300),
      providerId: text(1000),
      message: z.unknown().describe('the content as received'),
      profileName: z.string().exactOptional()
    }),
    key: 'contact'
  },
  ReportHeld: {
    stream: 'inbox-ch_…',
    by: 'callback',
    about: 'A report whose provider id nobody knows yet. Paired with its send in either order.',
    data: z.strictObject({
      channelId: id('ch'),
      providerIdIndex: blindIndex,
      status: z.enum(['sent', 'delivered', 'read', 'failed']),
      code: word.exactOptional(),
      providerCode: text(200).exactOptional()
    })
  },
  ReportSettled: {
    stream: 'inbox-ch_…',
    by: 'reactor',
    about: 'That report was applied to its message.',
    data: z.strictObject({ heldId: id('evt') })
  },
  TenantKeysCreated: {
    stream: 'keys-tn_….<generation>',
    by: 'keyring, cli',
    about: "A tenant's own keys. The next generation is written under a new master key, then the old one is erased.",
    data: z.strictObject({
      tenantId: id('tn'),
      generation: count.min(1),
      wrapped: base64.describe('wrapped by the master key'),
      masterKeyId
    })
  },
  ContactKeyCreated: {
    stream: 'keys-tn_….<blind index>.<generation>',
    by: 'keyring',
    about: "A contact's key. Erasing this stream makes all that is sealed under it unreadable for good.",
    data: z.strictObject({
      contactId: id('ct'),
      tenantId: id('tn'),
      index: contactKeyIndex,
      wrapped: base64.describe("wrapped by the tenant's key-encryption key")
    }),
    sealed: z.strictObject({ address: text(300).describe("digits, or the platform's user id") }),
    key: 'contact'
  },
  ContactLinked: {
    stream: 'keys-tn_….<blind index>.<generation>',
    by: 'keyring',
    about:
      'The address of this stream is one more of a contact whose key stands in another stream. The newest link counts.',
    data: z.strictObject({
      contactId: id('ct').describe('whose address it is from now on'),
      tenantId: id('tn'),
      index: contactKeyIndex,
      keyStream: text(200).describe('where that key stands; once that stream is erased the link leads nowhere'),
      former: id('ct').exactOptional().describe('whose address it was, when it had a key of its own')
    })
  },
  AnchorKeyCreated: {
    stream: 'keys-anchor',
    by: 'anchors',
    about: 'The key that signs the anchors.',
    data: z.strictObject({
      publicKey: text(1000),
      wrapped: base64.describe('the private key, wrapped by the master key'),
      masterKeyId
    })
  },
  AnchorWritten: {
    stream: 'anchors',
    by: 'anchors',
    about: 'Signs all events from one position to another, every 10 s of activity or 10,000 events.',
    data: z.strictObject({
      from: count.describe('position of the first event that it covers'),
      to: count.describe('position of the last one'),
      count: count.min(1).describe('how many events'),
      rolling: hex(64).describe(
        "SHA-256 over the rolling hash of the anchor before and each event's position and hash"
      ),
      prefixes: z.string().describe("the first four bytes of each event's hash, base64"),
      previous: z.string().describe('signature of the anchor before, empty for the first one'),
      publicKey: base64.describe('Ed25519 key in SPKI DER'),
      signature: base64.describe('Ed25519')
    })
  },
  DeliveriesSettled: {
    stream: 'outcomes-<shard>-<yyyymmdd>',
    by: 'deliverer',
    about: `Outcomes of webhook attempts, at most ${OUTCOMES_MAX} together.`,
    data: z.strictObject({ outcomes: z.array(outcome).min(1).max(OUTCOMES_MAX) })
  },
  DeliveriesRetried: {
    stream: 'outcomes-<shard>-<yyyymmdd>',
    by: 'api',
    about: `Dead deliveries are to be tried again at once, at most ${OUTCOMES_MAX} together.`,
    data: z.strictObject({ deliveryIds: z.array(id('dlv')).min(1).max(OUTCOMES_MAX) })
  },
  ContactErased: {
    stream: 'erasure-ct_…',
    by: 'api',
    about: 'A contact is to be forgotten: recorded first, then the key streams are erased.',
    data: z.strictObject({
      contactId: id('ct'),
      tenantId: id('tn'),
      linked: z.array(id('ct')).min(1).exactOptional().describe('contacts linked with it, which go too')
    })
  },
  ContactErasureCompleted: {
    stream: 'erasure-ct_…',
    by: 'api, reactor',
    about: 'Keys, waiting messages and media of the erased contact, and of those linked with it, are gone.',
    data: z.strictObject({ contactId: id('ct'), tenantId: id('tn') })
  },
  ContactOptedOut: {
    stream: 'optout-tn_….<blind index>',
    by: 'callback',
    about: 'A contact wants no more messages of this tenant. A keyed hash is all that is kept of it.',
    data: optOutData
  },
  ContactOptedIn: {
    stream: 'optout-tn_….<blind index>',
    by: 'callback',
    about: 'The contact takes it back.',
    data: optOutData
  },
  TemplateSaved: {
    stream: 'templates-tn_…',
    by: 'api',
    about: "The tenant's own template, rendered as text on unofficial numbers.",
    data: z.strictObject({ name: text(512), language: text(20), text: templateText })
  },
  TemplateRemoved: {
    stream: 'templates-tn_…',
    by: 'api',
    about: "The tenant's own templates of this name, in all languages, are gone.",
    data: z.strictObject({ name: text(512) })
  },
  TemplateObserved: {
    stream: 'templates-tn_…',
    by: 'callback, supervisor',
    about: 'The official platform tells of a template: read from its list, or news of its status.',
    data: z.strictObject({
      wabaId: text(64),
      channelId: id('ch').describe('the number whose news it was, or that it was read for'),
      name: text(512),
      language: text(20),
      status: text(40),
      category: text(64).exactOptional(),
      text: templateText.exactOptional(),
      isNews: z.literal(true).exactOptional().describe('the status changed: `template.updated` goes out')
    })
  }
})
