import type { OfficialChange, Update } from '../port.ts'
import { accountNewsOf, preferenceNewsOf, templateNewsOf } from './account-news.ts'
import { failureCodeOf } from './errors.ts'
import { messageOf } from './inbound-message.ts'
import { idOf, isObject, isoOfSeconds, type Loose, listOf, numberOf, objectOf, textOf, textUpTo } from './loose-json.ts'

/**
 * The changes of one callback body, in its order (`provider-official`, 6.3 and 7).
 * Never throws: unknown fields are passed over, and what cannot be read becomes `ignored`.
 */
export function parseOfficialCallback(body: unknown): OfficialChange[] {
  return listOf(objectOf(body).entry).flatMap(item => {
    const entry = objectOf(item)
    const changes = listOf(entry.changes)
    if (changes.length === 0) return [{ phoneNumberId: null, wabaId: idOf(entry.id), updates: [malformed('entry')] }]
    return changes.map(change => changeOf(objectOf(change), entry))
  })
}

function changeOf(change: Loose, entry: Loose): OfficialChange {
  const value = objectOf(change.value)
  const field = textOf(change.field) ?? textOf(entry.field) ?? 'unknown'
  return {
    phoneNumberId: idOf(objectOf(value.metadata).phone_number_id),
    // Partner events carry the partner's business on the entry, and the account within.
    wabaId: idOf(objectOf(value.waba_info).waba_id) ?? idOf(entry.id),
    updates: updatesOf(field, value)
  }
}

function updatesOf(field: string, value: Loose): Update[] {
  switch (field) {
    case 'messages':
      return messagingNewsOf(value)
    case 'message_template_status_update':
      return [templateNewsOf(value)]
    case 'account_update':
      return accountNewsOf(value)
    case 'user_preferences':
      return preferenceNewsOf(value)
    default:
      return [{ kind: 'ignored', reason: field.slice(0, REASON_CHARS_MAX) }]
  }
}

/** Reasons are counted and logged, and a field name is foreign text. */
const REASON_CHARS_MAX = 64
/** Far above any id or address seen; longer ones are somebody's mistake. */
const ID_CHARS_MAX = 512
const ADDRESS_CHARS_MAX = 256

function messagingNewsOf(value: Loose): Update[] {
  const contacts = listOf(value.contacts).map(objectOf)
  const updates = [
    ...listOf(value.messages).map(item => inboundOf(item, contacts)),
    ...listOf(value.statuses).map(statusOf)
  ]
  return updates.length > 0 ? updates : [{ kind: 'ignored', reason: 'no_messages' }]
}

function malformed(what: string): Update {
  return { kind: 'ignored', reason: `malformed:${what}` }
}

function inboundOf(value: unknown, contacts: readonly Loose[]): Update {
  if (!isObject(value)) return malformed('message')
  const phone = textOf(value.from)
  const contact = senderOf(phone, textOf(value.from_user_id), contacts)
  const userId = textOf(value.from_user_id) ?? textOf(contact.user_id)
  const from = textUpTo(phone ?? textOf(contact.wa_id) ?? userId, ADDRESS_CHARS_MAX)
  const providerId = textUpTo(value.id, ID_CHARS_MAX)
  if (providerId === null || from === null) return malformed('message')
  if (textOf(value.group_id) !== null) return { kind: 'ignored', reason: 'group' }
  const message = messageOf(value)
  if (message.kind === 'ignored') return message
  return {
    kind: 'inbound',
    providerId,
    from,
    alias: userId === from ? null : textUpTo(userId, ADDRESS_CHARS_MAX),
    profileName: textOf(objectOf(contact.profile).name),
    quotedProviderId: textOf(objectOf(value.context).id),
    message,
    providerAt: isoOfSeconds(value.timestamp)
  }
}

/** The contact card that belongs to a sender; a lone card is the sender's, however it is written. */
function senderOf(phone: string | null, userId: string | null, contacts: readonly Loose[]): Loose {
  const match = contacts.find(
    contact => (phone !== null && contact.wa_id === phone) || (userId !== null && contact.user_id === userId)
  )
  return match ?? objectOf(contacts.length === 1 ? contacts[0] : undefined)
}

/** `played` is a voice note heard, which was read before. */
const STATUSES: ReadonlyMap<string, 'sent' | 'delivered' | 'read' | 'failed'> = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
  ['failed', 'failed']
])

function statusOf(item: unknown): Update {
  const value = objectOf(item)
  const providerId = textUpTo(value.id, ID_CHARS_MAX)
  if (providerId === null) return malformed('status')
  const status = STATUSES.get(textOf(value.status) ?? '')
  if (status === undefined) return { kind: 'ignored', reason: 'status' }
  const callbackData = textOf(value.biz_opaque_callback_data)
  const providerCode = numberOf(objectOf(listOf(value.errors)[0]).code)
  const failed = status === 'failed'
  const phone = textUpTo(value.recipient_id, ADDRESS_CHARS_MAX)
  const userId = textUpTo(value.recipient_user_id, ADDRESS_CHARS_MAX)
  return {
    kind: 'status',
    providerId,
    // Another program on the same number may put data of its own there.
    messageId: callbackData?.startsWith('msg_') ? callbackData : null,
    status,
    // Whether the failed message was a reaction is not told here.
    code: failed ? failureCodeOf(providerCode ?? Number.NaN, false) : null,
    reactionCode: failed ? failureCodeOf(providerCode ?? Number.NaN, true) : null,
    providerCode: failed && providerCode !== null ? String(providerCode) : null,
    restriction: null,
    providerAt: isoOfSeconds(value.timestamp),
    address: phone ?? userId,
    alias: phone === null ? null : userId
  }
}
