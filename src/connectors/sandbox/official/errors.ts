import type { JsonObject } from './json.ts'
import type { Answer } from './wire.ts'

/** HTTP status and title of every error code of the platform that can be answered or reported here. */
const CODES: Record<number, readonly [status: number, title: string]> = {
  0: [401, 'AuthException'],
  1: [400, 'API Unknown'],
  2: [503, 'API Service'],
  3: [500, 'API Method'],
  4: [400, 'Application request limit reached'],
  10: [403, 'Application does not have permission for this action'],
  33: [400, 'Parameter value is not valid'],
  100: [400, 'Invalid parameter'],
  104: [401, 'An access token is required to request this resource.'],
  190: [401, 'Invalid OAuth access token - Cannot parse access token'],
  200: [403, 'Permissions error'],
  368: [403, 'Temporarily blocked for policies violations'],
  2200: [400, 'Callback verification failed'],
  80007: [400, 'Rate limit issues'],
  130403: [400, 'User is blocked by the business'],
  130429: [400, 'Rate limit hit'],
  130472: [400, "User's number is part of an experiment"],
  130497: [403, 'Business account is restricted from messaging users in this country.'],
  131000: [500, 'Something went wrong'],
  131005: [403, 'Access denied'],
  131008: [400, 'Required parameter is missing'],
  131009: [400, 'Parameter value is not valid'],
  131016: [500, 'Service unavailable'],
  131021: [400, 'Recipient cannot be sender'],
  131026: [400, 'Message undeliverable'],
  131030: [400, 'Recipient phone number not in allowed list'],
  131031: [403, 'Account has been locked'],
  131037: [400, 'Display name approval is needed'],
  131042: [400, 'Business eligibility payment issue'],
  131044: [400, 'Payment method missing'],
  131045: [500, 'Incorrect certificate'],
  131047: [400, 'Re-engagement message'],
  131048: [400, 'Spam rate limit hit'],
  131049: [400, 'This message was not delivered to maintain healthy ecosystem engagement.'],
  131050: [400, 'User has stopped marketing messages from this business'],
  131051: [400, 'Unsupported message type'],
  131052: [400, 'Media download error'],
  131053: [400, 'Media upload error'],
  131055: [400, 'Method not allowed'],
  131056: [400, '(Business Account, Consumer Account) pair rate limit hit'],
  131057: [500, 'Account in maintenance mode'],
  131062: [400, 'Recipient kind is not supported for this message'],
  131063: [400, 'Marketing templates are disabled on this API'],
  131064: [400, 'Limited because of template misclassification'],
  132000: [400, 'Number of parameters does not match the expected number of params'],
  132001: [404, 'Template name does not exist in the translation'],
  132005: [400, 'Translated text too long'],
  132007: [400, 'Template format character policy violated'],
  132008: [400, 'Parameter value is not allowed'],
  132012: [400, 'Parameter format does not match format in the created template'],
  132015: [400, 'Template is paused'],
  132016: [400, 'Template is disabled'],
  132018: [400, 'There was a problem with the template parameters'],
  132068: [400, 'Flow is in blocked state'],
  132069: [400, 'Flow is in throttled state'],
  133000: [500, 'Incomplete deregistration'],
  133004: [503, 'Server temporarily unavailable'],
  133005: [400, 'Two step verification PIN mismatch'],
  133006: [400, 'Phone number re-verification needed'],
  133008: [400, 'Too many two step verification PIN guesses'],
  133009: [400, 'Two step verification PIN guessed too fast'],
  133010: [400, 'Phone number not registered'],
  133015: [400, 'Please wait a few minutes before attempting to register this phone number'],
  133016: [400, 'Account register/deregister rate limit exceeded'],
  134011: [400, 'Payments terms of service not accepted'],
  135000: [400, 'Generic user error'],
  137000: [400, 'Identity key hash mismatch']
}

const TRANSIENT = new Set([1, 2, 4, 131016, 131057])
/** These two carry their text without the number in front. */
const PLAIN_MESSAGE = new Set([104, 190])
const HELP = 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/'

export type Detail = { status?: number; subcode?: number; message?: string; type?: string; userMessage?: string }

let traces = 0
const trace = () => `A${(++traces).toString(36).padStart(10, '0')}`

export const titleOf = (code: number): string => CODES[code]?.[1] ?? 'Unknown error'

/** A Graph error answer for `code`; `details` is the text that explains this very case. */
export function refuse(code: number, details?: string, extra: Detail = {}): Answer {
  const title = titleOf(code)
  const error: JsonObject = {
    message: extra.message ?? (PLAIN_MESSAGE.has(code) ? title : `(#${code}) ${title}`),
    type: extra.type ?? 'OAuthException',
    code
  }
  if (details !== undefined) error.error_data = { messaging_product: 'whatsapp', details }
  const subcode = extra.subcode ?? (code === 4 ? 2446079 : undefined)
  if (subcode !== undefined) error.error_subcode = subcode
  if (TRANSIENT.has(code)) error.is_transient = true
  if (extra.userMessage !== undefined) error.error_user_msg = extra.userMessage
  error.fbtrace_id = trace()
  return { status: extra.status ?? CODES[code]?.[0] ?? 400, body: JSON.stringify({ error }) }
}

/** Code 100 with the sentence in the message, the way the Graph layer refuses single parameters. */
export const badParameter = (sentence: string): Answer => refuse(100, undefined, { message: `(#100) ${sentence}` })

export const requiredParameter = (name: string): Answer => badParameter(`The parameter ${name} is required.`)

/** The answer for an id that does not exist or that the token may not see. */
export const unknownObject = (id: string, method: string): Answer =>
  refuse(100, undefined, {
    subcode: 33,
    type: 'GraphMethodException',
    message: `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation`
  })

/** An error as it stands inside a status or an inbound message. */
export const webhookError = (code: number, title?: string, details?: string): JsonObject => ({
  code,
  title: title ?? titleOf(code),
  message: title ?? titleOf(code),
  error_data: { details: details ?? `${title ?? titleOf(code)}.` },
  href: HELP
})
