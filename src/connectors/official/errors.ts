/** The platform's error codes, in our words (`provider-official`, 1.1). Decided by code alone, never by HTTP status or text. */

export type RefusalCode =
  | 'provider_rejected'
  | 'invalid_recipient'
  | 'template_call_invalid'
  | 'outside_24h_window'
  | 'recipient_opted_out'
  | 'channel_restricted'

/** First wait and its growth from one refusal to the next. */
export type Backoff = { readonly baseMs: number; readonly factor: number; readonly maxMs: number }

/**
 * What a code means for the message.
 * `backoff` null leaves the wait to the caller's own schedule.
 */
export type Verdict =
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly scope: 'message'; readonly backoff: null }
  | {
      readonly kind: 'retry'
      readonly code: 'provider_unavailable' | 'provider_throttled'
      readonly scope: 'message' | 'recipient' | 'channel'
      readonly backoff: Backoff | null
    }
  | {
      readonly kind: 'channel_trouble'
      readonly code: 'credentials_rejected' | 'number_not_registered'
      readonly scope: 'channel'
      readonly backoff: null
    }

const refused = (code: RefusalCode): Verdict => ({ kind: 'refused', code, scope: 'message', backoff: null })
const fixed = (ms: number): Backoff => ({ baseMs: ms, factor: 1, maxMs: ms })

const REJECTED = refused('provider_rejected')
const NO_RECIPIENT = refused('invalid_recipient')
const BAD_TEMPLATE = refused('template_call_invalid')
const RESTRICTED = refused('channel_restricted')
const NO_CREDENTIALS: Verdict = {
  kind: 'channel_trouble',
  code: 'credentials_rejected',
  scope: 'channel',
  backoff: null
}
const NO_NUMBER: Verdict = { kind: 'channel_trouble', code: 'number_not_registered', scope: 'channel', backoff: null }
const UNAVAILABLE: Verdict = { kind: 'retry', code: 'provider_unavailable', scope: 'message', backoff: null }
const throttled = (scope: 'recipient' | 'channel', backoff: Backoff | null): Verdict => ({
  kind: 'retry',
  code: 'provider_throttled',
  scope,
  backoff
})
const unavailableFor = (ms: number): Verdict => ({
  kind: 'retry',
  code: 'provider_unavailable',
  scope: 'channel',
  backoff: fixed(ms)
})

/** Call limits are counted over an hour, so a wait of seconds only adds to the count. */
const CALL_LIMIT_WAIT_MS = 120_000
const MAINTENANCE_WAIT_MS = 60_000
const DELETED_NUMBER_WAIT_MS = 300_000
/** 1, 4, 16, 64 seconds. */
const PAIR_BACKOFF: Backoff = { baseMs: 1_000, factor: 4, maxMs: 64_000 }

const CALL_LIMIT = throttled('channel', fixed(CALL_LIMIT_WAIT_MS))

const VERDICTS: ReadonlyMap<number, Verdict> = new Map<number, Verdict>([
  [0, NO_CREDENTIALS],
  [1, UNAVAILABLE],
  [2, UNAVAILABLE],
  [3, REJECTED],
  [4, CALL_LIMIT],
  [10, NO_CREDENTIALS],
  [33, NO_NUMBER],
  [100, REJECTED],
  [104, NO_CREDENTIALS],
  [190, NO_CREDENTIALS],
  [368, RESTRICTED],
  [2500, NO_CREDENTIALS],
  [80007, CALL_LIMIT],
  [130403, REJECTED],
  [130429, throttled('channel', null)],
  [130472, REJECTED],
  [130497, REJECTED],
  [131000, UNAVAILABLE],
  [131005, NO_CREDENTIALS],
  [131008, REJECTED],
  [131009, REJECTED],
  [131016, UNAVAILABLE],
  [131021, NO_RECIPIENT],
  [131026, NO_RECIPIENT],
  [131030, NO_RECIPIENT],
  [131031, RESTRICTED],
  [131037, REJECTED],
  [131042, REJECTED],
  [131044, REJECTED],
  [131045, NO_NUMBER],
  [131047, refused('outside_24h_window')],
  [131048, RESTRICTED],
  [131049, REJECTED],
  [131050, refused('recipient_opted_out')],
  [131051, REJECTED],
  [131052, REJECTED],
  [131053, REJECTED],
  [131055, REJECTED],
  [131056, throttled('recipient', PAIR_BACKOFF)],
  [131057, unavailableFor(MAINTENANCE_WAIT_MS)],
  [131062, NO_RECIPIENT],
  [131063, BAD_TEMPLATE],
  [131064, REJECTED],
  [132000, BAD_TEMPLATE],
  [132001, BAD_TEMPLATE],
  [132005, BAD_TEMPLATE],
  [132007, BAD_TEMPLATE],
  [132008, BAD_TEMPLATE],
  [132012, BAD_TEMPLATE],
  [132015, BAD_TEMPLATE],
  [132016, BAD_TEMPLATE],
  [132018, BAD_TEMPLATE],
  [132068, REJECTED],
  [132069, throttled('channel', null)],
  [133000, REJECTED],
  [133004, UNAVAILABLE],
  [133005, REJECTED],
  [133006, REJECTED],
  [133008, REJECTED],
  [133009, REJECTED],
  [133010, NO_NUMBER],
  [133015, unavailableFor(DELETED_NUMBER_WAIT_MS)],
  [133016, REJECTED],
  [134011, REJECTED],
  [135000, REJECTED],
  [137000, REJECTED]
])

/** A value that the platform finds invalid; on a reaction it is the target that is unknown or too old. */
const INVALID_VALUE = 131009

/** Verdict on a synchronous error. A code that is not in the table is a refusal: the platform answered, and said no. */
export function verdictOf(code: number, isReaction: boolean): Verdict {
  if (isReaction && code === INVALID_VALUE) return NO_RECIPIENT
  // 200 to 299 are missing permissions, whichever they are.
  if (code >= 200 && code <= 299) return NO_CREDENTIALS
  return VERDICTS.get(code) ?? REJECTED
}

/**
 * Our code for a failure that the platform reports later. The message is lost by then,
 * so what would be worth a retry, or blames the number, ends as `provider_rejected`.
 */
export function failureCodeOf(code: number, isReaction: boolean): RefusalCode {
  const verdict = verdictOf(code, isReaction)
  return verdict.kind === 'refused' ? verdict.code : 'provider_rejected'
}

/** Wait before the next attempt, `earlier` being how many such refusals came before this one in a row; null as in `Verdict`. */
export function waitMsOf(backoff: Backoff | null, earlier: number): number | null {
  if (backoff === null) return null
  return Math.min(backoff.baseMs * backoff.factor ** earlier, backoff.maxMs)
}
