import { type Exchange, INVALID_HEADER } from '../official/exchange.ts'
import { parseObject } from '../official/loose-json.ts'
import type { SendAnswer } from '../port.ts'
import { addressOf, messageRefOf } from './identifiers.ts'
import { INVALID_ADDRESS } from './instances.ts'
import { refusalOf } from './refusals.ts'

/**
 * What the exchange of a send proves (`provider-unofficial`, 1 and 4.4). `to` is the recipient as it was asked for,
 * `chatId` the chat that was written to.
 */
export function sendAnswerOf(exchange: Exchange, to: string, chatId: string): SendAnswer {
  if (exchange.kind === 'unsent') return unsentAnswerOf(exchange.reason)
  if (exchange.kind === 'lost') {
    return { kind: 'unknown', code: exchange.timedOut ? 'timeout' : 'connection_lost', detail: exchange.reason }
  }
  if (exchange.status >= 200 && exchange.status <= 299) return acceptedAnswerOf(exchange.body, to, chatId)
  if (exchange.status < 400) return { kind: 'unknown', code: 'server_error', detail: `http ${exchange.status}` }
  return refusedAnswerOf(exchange)
}

/** Whether the quote may be to blame: the send was proven not accepted, and nothing else explains it. */
export function mayBlameQuote(exchange: Exchange): boolean {
  if (exchange.kind !== 'answered' || ![400, 404, 422].includes(exchange.status)) return false
  return refusalOf(exchange) === 'client_error'
}

/** The instance was not reached: its address or key are unusable, or it does not listen now. */
export function unsentAnswerOf(reason: string): SendAnswer {
  if (reason === INVALID_HEADER || reason === INVALID_ADDRESS) {
    return { kind: 'channel_trouble', code: 'instance_rejected', detail: reason }
  }
  const code = 'provider_unavailable'
  return { kind: 'retry', code, providerCode: null, afterMs: null, scope: 'message', detail: reason }
}

/** Answers differ by engine: the id stands in `id` as text or object, or in `key` (`provider-unofficial`, 4.3). */
function acceptedAnswerOf(text: string, to: string, chatId: string): SendAnswer {
  const body = parseObject(text)
  const ref = messageRefOf(body?.id) ?? messageRefOf(body?.key)
  if (ref === null) return { kind: 'unknown', code: 'no_message_id', detail: null }
  // Of the forms that name the recipient, the one that says something new is worth keeping.
  const forms = [addressOf(chatId), ref.chat === null ? to : addressOf(ref.chat)]
  return { kind: 'sent', providerId: ref.bareId, address: forms.find(form => form !== to) ?? to }
}

function refusedAnswerOf(exchange: Extract<Exchange, { kind: 'answered' }>): SendAnswer {
  const detail = `http ${exchange.status}`
  const refused = (code: string): SendAnswer => ({ kind: 'refused', code, providerCode: null, detail })
  switch (refusalOf(exchange)) {
    case 'key':
      return { kind: 'channel_trouble', code: 'instance_rejected', detail }
    case 'session':
      return { kind: 'channel_trouble', code: 'session_not_working', detail }
    case 'not_implemented':
      return refused('unsupported_capability')
    case 'restricted':
      return { kind: 'refused', code: 'channel_restricted', providerCode: '463', detail }
    case 'throttled': {
      const { retryAfterMs: afterMs } = exchange
      return { kind: 'retry', code: 'provider_throttled', providerCode: null, afterMs, scope: 'channel', detail }
    }
    case 'client_error':
      return refused('provider_rejected')
    case 'server_error':
      return { kind: 'unknown', code: 'server_error', detail }
  }
}
