import { LRUCache } from 'lru-cache'
import type { Exchange } from '../official/exchange.ts'
import { parseObject, textOf } from '../official/loose-json.ts'
import type { SendAnswer, UnofficialLine } from '../port.ts'
import { chatIdOf } from './identifiers.ts'
import type { Instances } from './instances.ts'
import { refusalOf } from './refusals.ts'
import { unsentAnswerOf } from './send-answer.ts'

/** Recipients remembered, over all sessions. */
const RECIPIENTS_MAX = 200_000
/** A number seldom leaves the platform, and too many checks look like spam. */
const FOUND_TTL_MS = 24 * 3_600_000
/** Somebody who is not on the platform may join at any time. */
const MISSING_TTL_MS = 5 * 60_000

/** The chat to write to, or the answer of a send that cannot go out. */
export type Recipient = { readonly chatId: string } | { readonly refusal: SendAnswer }

export type Recipients = {
  find(line: UnofficialLine, to: string, signal: AbortSignal): Promise<Recipient>
}

/**
 * Finds the chat id of a recipient before the first message to it, because the platform may know a number in another
 * form (`provider-unofficial`, 3). Ids with a server part are chats already; other non-digits belong to another platform.
 */
export function createRecipients(instances: Instances): Recipients {
  const known = new LRUCache<string, { chatId: string | null }>({ max: RECIPIENTS_MAX })

  async function find(line: UnofficialLine, to: string, signal: AbortSignal): Promise<Recipient> {
    if (to.includes('@')) return { chatId: to }
    if (!/^\d+$/.test(to)) return { refusal: noSuchRecipient('not a number') }
    const key = `${line.baseUrl}|${line.session}|${to}`
    const remembered = known.get(key)
    if (remembered !== undefined) return recipientOf(remembered.chatId)
    const path = `/api/contacts/check-exists?phone=${to}&session=${encodeURIComponent(line.session)}`
    const exchange = await instances.call(line, { method: 'GET', path, body: null, signal })
    const chatId = chatIdIn(exchange)
    if (chatId !== undefined) {
      known.set(key, { chatId }, { ttl: chatId === null ? MISSING_TTL_MS : FOUND_TTL_MS })
      return recipientOf(chatId)
    }
    return failedCheckOf(exchange, to)
  }

  return { find }
}

function recipientOf(chatId: string | null): Recipient {
  return chatId === null ? { refusal: noSuchRecipient('not on the platform') } : { chatId }
}

function noSuchRecipient(detail: string): SendAnswer {
  return { kind: 'refused', code: 'invalid_recipient', providerCode: null, detail }
}

/** Chat id of a clear yes, null of a clear no, undefined of anything else. */
function chatIdIn(exchange: Exchange): string | null | undefined {
  if (exchange.kind !== 'answered' || exchange.status !== 200) return undefined
  const body = parseObject(exchange.body)
  if (body?.numberExists === false) return null
  return body?.numberExists === true ? (textOf(body.chatId) ?? undefined) : undefined
}

/** The check itself failed: no message left, so each case is proven, and a broken check is worth a retry. */
function failedCheckOf(exchange: Exchange, to: string): Recipient {
  if (exchange.kind === 'unsent') return { refusal: unsentAnswerOf(exchange.reason) }
  if (exchange.kind === 'lost') return { refusal: retryAfter(exchange.reason, null) }
  const detail = `http ${exchange.status}`
  if (exchange.status < 400) {
    // A yes without a chat id, or words that are not JSON: the number as it is must do.
    return parseObject(exchange.body)?.numberExists === true
      ? { chatId: chatIdOf(to) }
      : { refusal: retryAfter(detail, null) }
  }
  switch (refusalOf(exchange)) {
    case 'key':
      return { refusal: { kind: 'channel_trouble', code: 'instance_rejected', detail } }
    case 'session':
      return { refusal: { kind: 'channel_trouble', code: 'session_not_working', detail } }
    case 'not_implemented':
      return { chatId: chatIdOf(to) }
    case 'client_error':
      return { refusal: noSuchRecipient(detail) }
    default:
      return { refusal: retryAfter(detail, exchange.retryAfterMs) }
  }
}

function retryAfter(detail: string, afterMs: number | null): SendAnswer {
  return { kind: 'retry', code: 'provider_unavailable', providerCode: null, afterMs, scope: 'message', detail }
}
