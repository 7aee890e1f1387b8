import { isObject, isoOfMilliseconds, isoOfSeconds, type Loose, objectOf, textOf } from '../official/loose-json.ts'
import type { InboundMessage, Update } from '../port.ts'
import { acknowledgementOf } from './acknowledgement.ts'
import { aliasOf, pushNameOf } from './engine-data.ts'
import { addressOf, isHiddenId, isPersonalChat, type MessageRef, messageRefOf } from './identifiers.ts'
import { messageOf } from './inbound-message.ts'
import { ownNumberOf, restrictionOf, sessionStatusOf } from './session-view.ts'

export type UnofficialCallback = {
  readonly session: string | null
  /** The same on every repetition of a delivery; null from old servers. */
  readonly eventId: string | null
  readonly updates: Update[]
}

/** Reasons are counted and logged, and an event's name is foreign text. */
const REASON_CHARS_MAX = 64
/** Far above any address seen. */
const ADDRESS_CHARS_MAX = 256

/**
 * The news of one event of a session server (`provider-unofficial`, 6).
 * Never throws: what cannot be read, and what is of no use, becomes `ignored`.
 */
export function parseUnofficialCallback(body: unknown): UnofficialCallback {
  const envelope = objectOf(body)
  return { session: textOf(envelope.session), eventId: textOf(envelope.id), updates: [updateOf(envelope)] }
}

function updateOf(envelope: Loose): Update {
  const event = textOf(envelope.event)
  if (event === null || !isObject(envelope.payload)) return ignored('malformed:event')
  const { payload } = envelope
  switch (event) {
    case 'session.status':
      return sessionNewsOf(payload, envelope)
    case 'message.any':
      return messageNewsOf(payload)
    case 'message.ack':
      return acknowledgementOf(payload, isoOfMilliseconds(envelope.timestamp))
    case 'message.reaction':
      return reactionNewsOf(payload)
    default:
      // `message` too: `message.any` says the same and more.
      return ignored(event.slice(0, REASON_CHARS_MAX))
  }
}

function ignored(reason: string): Update {
  return { kind: 'ignored', reason }
}

function sessionNewsOf(payload: Loose, envelope: Loose): Update {
  const status = sessionStatusOf(payload.status)
  if (status === null) return ignored('session_status')
  return {
    kind: 'session',
    status,
    number: ownNumberOf(envelope.me),
    restriction: restrictionOf(payload.data) ?? restrictionOf(envelope.me)
  }
}

function messageNewsOf(payload: Loose): Update {
  const ref = messageRefOf(payload.id)
  if (ref === null) return ignored('malformed:message')
  const own = isOwn(payload, ref)
  const chat = chatOf(payload, ref, own)
  if (chat === null) return ignored('malformed:message')
  if (!isPersonalChat(chat)) return ignored('group')
  if (own) return echoOf(payload, ref, chat)
  const message = messageOf(payload, ref.bareId)
  return message === null ? ignored('protocol_noise') : inboundOf(payload, ref, chat, message)
}

function reactionNewsOf(payload: Loose): Update {
  const ref = messageRefOf(payload.id)
  const reaction = objectOf(payload.reaction)
  const target = messageRefOf(reaction.messageId)
  if (ref === null || target === null) return ignored('malformed:reaction')
  if (isOwn(payload, ref)) return ignored('own_reaction')
  const chat = chatOf(payload, ref, false)
  if (chat === null) return ignored('malformed:reaction')
  if (!isPersonalChat(chat)) return ignored('group')
  const emoji = textOf(reaction.text) ?? ''
  return inboundOf(payload, ref, chat, { kind: 'reaction', targetProviderId: target.bareId, emoji })
}

function isOwn(payload: Loose, ref: MessageRef): boolean {
  return typeof payload.fromMe === 'boolean' ? payload.fromMe : ref.own === true
}

/** The chat part of the id names the peer on every engine; `from` and `to` mean different things on each. */
function chatOf(payload: Loose, ref: MessageRef, own: boolean): string | null {
  const peer = own ? (textOf(payload.to) ?? textOf(payload.from)) : textOf(payload.from)
  return ref.chat ?? peer
}

function echoOf(payload: Loose, ref: MessageRef, chat: string): Update {
  return {
    kind: 'echo',
    providerId: ref.bareId,
    api: payload.source === 'api',
    address: addressOf(chat),
    text: textOf(payload.body),
    providerAt: isoOfSeconds(payload.timestamp)
  }
}

function inboundOf(payload: Loose, ref: MessageRef, chat: string, message: InboundMessage): Update {
  const data = objectOf(payload._data)
  const address = addressOf(chat)
  const alias = aliasOf(data, address)
  // A contact goes by the phone number where it is known, by the hidden id only where it is not.
  const phoneIsAlias = alias !== null && isHiddenId(address)
  const from = phoneIsAlias ? alias : address
  if (from === '' || from.length > ADDRESS_CHARS_MAX) return ignored('malformed:message')
  return {
    kind: 'inbound',
    providerId: ref.bareId,
    from,
    alias: phoneIsAlias ? address : alias,
    profileName: pushNameOf(data),
    quotedProviderId: messageRefOf(objectOf(payload.replyTo).id)?.bareId ?? null,
    message,
    providerAt: isoOfSeconds(payload.timestamp)
  }
}
