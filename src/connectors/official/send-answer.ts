import type { SendAnswer } from '../port.ts'
import { type Verdict, verdictOf, waitMsOf } from './errors.ts'
import type { Exchange } from './exchange.ts'
import { INVALID_HEADER } from './exchange.ts'
import { isObject, type Loose, listOf, objectOf, parseObject, textOf } from './loose-json.ts'

/** Longest stretch of a provider's text that is kept. */
const DETAIL_CHARS_MAX = 500

/** An error that the platform itself worded, as opposed to one of some machine on the way. */
export type GraphError = { readonly code: number; readonly subcode: number | null; readonly detail: string | null }

export type SendContext = {
  readonly isReaction: boolean
  /** Taken out of texts before they are kept: the platform quotes a token that it cannot read. */
  readonly accessToken: string
  /** Counts a pair-rate refusal and says how many came before it in a row. */
  readonly earlierPairRefusals: () => number
}

/**
 * What an exchange of `POST /PNID/messages` proves about the message (`provider-official`, Ambiguity rule):
 * unsent retries; a platform error is judged by its code; any other 4xx proves non-acceptance and retries;
 * everything else leaves the outcome unknown.
 */
export function sendAnswerOf(exchange: Exchange, context: SendContext): SendAnswer {
  if (exchange.kind === 'unsent') return unsent(exchange.reason)
  if (exchange.kind === 'lost') {
    return { kind: 'unknown', code: exchange.timedOut ? 'timeout' : 'connection_lost', detail: exchange.reason }
  }
  const { status } = exchange
  const body = parseObject(exchange.body)
  if (status >= 200 && status <= 299) return accepted(body)
  const error = graphErrorOf(body)
  if (error !== null) return judged(error, exchange.retryAfterMs, context)
  if (status >= 400 && status <= 499) return turnedAway(status, exchange.retryAfterMs)
  return { kind: 'unknown', code: 'server_error', detail: `http ${status}` }
}

/** The platform's error in an answer's body, null when there is none with a numeric code. */
export function graphErrorOf(body: Loose | null): GraphError | null {
  if (body === null || !isObject(body.error)) return null
  const { error } = body
  if (typeof error.code !== 'number') return null
  const detail = textOf(objectOf(error.error_data).details) ?? textOf(error.message)
  const subcode = typeof error.error_subcode === 'number' ? error.error_subcode : null
  return { code: error.code, subcode, detail: detail === null ? null : detail.slice(0, DETAIL_CHARS_MAX) }
}

/** The text without the token. */
export function withoutToken(text: string | null, accessToken: string): string | null {
  return text === null || accessToken === '' ? text : text.replaceAll(accessToken, '***')
}

function accepted(body: Loose | null): SendAnswer {
  const providerId = textOf(objectOf(listOf(body?.messages)[0]).id)
  if (providerId === null) {
    return { kind: 'unknown', code: 'no_message_id', detail: body === null ? 'unreadable answer' : null }
  }
  const contact = objectOf(listOf(body?.contacts)[0])
  return { kind: 'sent', providerId, address: textOf(contact.wa_id) ?? textOf(contact.user_id) }
}

function judged(error: GraphError, retryAfterMs: number | null, context: SendContext): SendAnswer {
  const verdict = verdictOf(error.code, context.isReaction)
  const detail = withoutToken(error.detail, context.accessToken)
  const providerCode = String(error.code)
  if (verdict.kind === 'refused') return { kind: 'refused', code: verdict.code, providerCode, detail }
  if (verdict.kind === 'channel_trouble') return { kind: 'channel_trouble', code: verdict.code, detail }
  const afterMs = retryAfterMs ?? waitOf(verdict, context)
  return { kind: 'retry', code: verdict.code, providerCode, afterMs, scope: verdict.scope, detail }
}

function waitOf(verdict: Verdict, context: SendContext): number | null {
  return waitMsOf(verdict.backoff, verdict.scope === 'recipient' ? context.earlierPairRefusals() : 0)
}

/** A 4xx without the platform's word comes from a machine before it: nothing was accepted, and nothing was judged. */
function turnedAway(status: number, afterMs: number | null): SendAnswer {
  const code = status === 429 ? 'provider_throttled' : 'provider_unavailable'
  const scope = status === 429 ? 'channel' : 'message'
  return { kind: 'retry', code, providerCode: null, afterMs, scope, detail: `http ${status}` }
}

function unsent(reason: string): SendAnswer {
  if (reason === INVALID_HEADER) return { kind: 'channel_trouble', code: 'credentials_rejected', detail: reason }
  const code = 'provider_unavailable'
  return { kind: 'retry', code, providerCode: null, afterMs: null, scope: 'message', detail: reason }
}
