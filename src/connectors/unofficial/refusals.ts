import type { Exchange } from '../official/exchange.ts'
import { type Loose, listOf, objectOf, parseObject } from '../official/loose-json.ts'

type Answered = Extract<Exchange, { kind: 'answered' }>

/** Kinds of failed answers, told by status and words because there are no codes (`provider-unofficial`, 1). */
export type Refusal =
  /** The key is wrong, or has no right to this. */
  | 'key'
  /** The session is unknown, not running, or not in the status that the call needs. */
  | 'session'
  | 'not_implemented'
  /** The platform bars the account from writing to new people (`provider-unofficial`, 8). */
  | 'restricted'
  | 'throttled'
  | 'client_error'
  | 'server_error'

/** Longest stretch of an instance's text that is looked at. */
const TEXT_CHARS_MAX = 500

/** Classifies an answer that is not 2xx. */
export function refusalOf(answer: Answered): Refusal {
  const { status } = answer
  if (status === 401 || status === 403) return 'key'
  if (status === 429) return 'throttled'
  const body = parseObject(answer.body) ?? {}
  const text = textOfError(body)
  if (status === 422 && /not implemented by the engine/i.test(text)) return 'not_implemented'
  if (status === 422 && (Array.isArray(body.expected) || /session status/i.test(text))) return 'session'
  // A 404 means that the session is not there, unless it blames the quoted message by name.
  if (status === 404 && (/session/i.test(text) || !/message|quote|reply/i.test(text))) return 'session'
  if (status >= 400 && status <= 499) return 'client_error'
  return isRestrictionText(text) ? 'restricted' : 'server_error'
}

/** Whether a text of the instance tells of the restriction on new contacts. */
export function isRestrictionText(text: string): boolean {
  return /(^|\D)463(\D|$)|account_restricted|reachout/i.test(text)
}

/** The error's own words. A failed send's body also echoes the request, hence the message: that part is never read. */
function textOfError(body: Loose): string {
  const { message, error } = body
  const exception = objectOf(body.exception).message
  const words = [...(Array.isArray(message) ? listOf(message) : [message]), exception, error]
  return words
    .filter(word => typeof word === 'string')
    .join('\n')
    .slice(0, TEXT_CHARS_MAX)
}
