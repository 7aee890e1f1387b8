import { isObject, type Loose, objectOf, textUpTo } from '../official/loose-json.ts'
import type { Update } from '../port.ts'
import { addressOf, isPersonalChat, messageRefOf } from './identifiers.ts'
import { isRestrictionText } from './refusals.ts'
import { isoOfText } from './session-view.ts'

/** Statuses by `ack` and by `ackName` (`provider-unofficial`, 6.4); 0 says only that the message waits. */
const STATUSES: ReadonlyMap<unknown, 'sent' | 'delivered' | 'read' | 'failed'> = new Map<
  unknown,
  'sent' | 'delivered' | 'read' | 'failed'
>([
  [-1, 'failed'],
  [1, 'sent'],
  [2, 'delivered'],
  [3, 'read'],
  [4, 'read'],
  ['ERROR', 'failed'],
  ['SERVER', 'sent'],
  ['DEVICE', 'delivered'],
  ['READ', 'read'],
  ['PLAYED', 'read']
])

/** Far above any chat id seen. */
const CHAT_CHARS_MAX = 256

/** `message.ack`: only of our own messages to a person. `providerAt` is the envelope's time, as the payload has none. */
export function acknowledgementOf(payload: Loose, providerAt: string | null): Update {
  const ref = messageRefOf(payload.id)
  if (ref === null) return { kind: 'ignored', reason: 'malformed:ack' }
  const chat = textUpTo(ref.chat ?? payload.from, CHAT_CHARS_MAX)
  if (chat !== null && !isPersonalChat(chat)) return { kind: 'ignored', reason: 'group' }
  if (payload.fromMe === false || (payload.fromMe !== true && ref.own === false)) {
    return { kind: 'ignored', reason: 'ack_of_inbound' }
  }
  const status = STATUSES.get(payload.ack) ?? STATUSES.get(payload.ackName)
  if (status === undefined) return { kind: 'ignored', reason: 'ack_pending' }
  const restriction = status === 'failed' ? restrictionIn(payload) : null
  return {
    kind: 'status',
    providerId: ref.bareId,
    messageId: null,
    status,
    code: status === 'failed' ? (restriction === null ? 'provider_rejected' : 'channel_restricted') : null,
    reactionCode: null,
    providerCode: restriction === null ? null : RESTRICTED_CODE,
    restriction,
    providerAt,
    // Only the id's own chat part is surely the recipient: `from` is this number itself on some engines.
    address: ref.chat === null || chat === null ? null : addressOf(chat) || null,
    alias: null
  }
}

const RESTRICTED_CODE = '463'

/** A failure that reveals the restriction on new contacts (`provider-unofficial`, 8), told in one of several shapes. */
function restrictionIn(payload: Loose): { readonly until: string | null } | null {
  const { error } = payload
  const data = objectOf(payload._data)
  const told = isObject(error) ? [error.code, error.reason] : [error]
  const words = [...told, data.code, data.error, data.errorCode]
  if (!words.some(word => (typeof word === 'string' || typeof word === 'number') && isRestrictionText(String(word)))) {
    return null
  }
  return { until: isObject(error) ? isoOfText(error.until) : null }
}
