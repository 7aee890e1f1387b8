/**
 * A pairing attempt of an unofficial number. Stream: `attempt-cxn_…`.
 * The QR itself is a login secret that lives seconds: it is never recorded, only that one was offered.
 */
import { type Decider, type Event, type Rejection, reject, sealedBy } from './event.ts'

export type AttemptState =
  | 'none'
  | 'connecting'
  | 'scan_qr'
  | 'paired'
  | 'connected'
  | 'failed'
  | 'expired'
  | 'cancelled'

/** Under the tenant's key. */
export type AttemptSecrets = { readonly instanceApiKey?: string; readonly declaredNumber?: string }
export type AttemptSession = {
  readonly name: string
  readonly baseUrl: string
  readonly engine: string
  readonly own: boolean
}

export type AttemptEvent =
  | Event<
      'AttemptStarted',
      {
        readonly attemptId: string
        readonly tenantId: string
        readonly label: string | null
        readonly session: AttemptSession
        readonly expiresAt: string
        readonly termsVersion: string
      },
      AttemptSecrets
    >
  | Event<'AttemptQrOffered', Record<never, never>>
  /** Paired: from here on the attempt cannot be cancelled; claim and channel follow. */
  | Event<'AttemptPaired', { readonly channelId: string; readonly number: string }>
  | Event<'AttemptConnected', { readonly channelId: string; readonly number: string }>
  | Event<'AttemptFailed', { readonly code: string }>
  | Event<'AttemptExpired', Record<never, never>>
  | Event<'AttemptCancelled', Record<never, never>>

export type Attempt = {
  readonly state: AttemptState
  readonly id: string
  readonly tenantId: string
  readonly label: string | null
  readonly session: AttemptSession | null
  readonly expiresAt: string
  readonly channelId: string | null
  readonly number: string | null
  readonly lastError: string | null
}

export type AttemptCommand =
  | {
      readonly type: 'Start'
      readonly at: string
      readonly attemptId: string
      readonly tenantId: string
      readonly label: string | null
      readonly session: AttemptSession
      readonly expiresAt: string
      readonly termsVersion: string
      readonly secrets: AttemptSecrets | null
    }
  | { readonly type: 'OfferQr'; readonly at: string }
  | { readonly type: 'Pair'; readonly at: string; readonly channelId: string; readonly number: string }
  | { readonly type: 'Complete'; readonly at: string }
  | { readonly type: 'Fail'; readonly at: string; readonly code: string }
  | { readonly type: 'Expire'; readonly at: string }
  | { readonly type: 'Cancel'; readonly at: string }

const initial: Attempt = {
  state: 'none',
  id: '',
  tenantId: '',
  label: null,
  session: null,
  expiresAt: '',
  channelId: null,
  number: null,
  lastError: null
}

/** Waiting for the phone: everything may still happen. */
export const isPairing = (attempt: Pick<Attempt, 'state'>): boolean =>
  attempt.state === 'connecting' || attempt.state === 'scan_qr'

function decide(attempt: Attempt, command: AttemptCommand): readonly AttemptEvent[] | Rejection {
  const { at } = command
  if (command.type === 'Start') {
    if (attempt.state !== 'none') return []
    const { attemptId, tenantId, label, session, expiresAt, termsVersion, secrets } = command
    const data = { attemptId, tenantId, label, session, expiresAt, termsVersion }
    return [{ type: 'AttemptStarted', at, data, ...sealedBy('tenant', secrets) }]
  }
  if (attempt.state === 'none') return reject('channel_not_found')
  switch (command.type) {
    case 'OfferQr':
      return attempt.state === 'connecting' ? [{ type: 'AttemptQrOffered', at, data: {} }] : []
    case 'Pair':
      if (!isPairing(attempt)) return []
      return [{ type: 'AttemptPaired', at, data: { channelId: command.channelId, number: command.number } }]
    case 'Complete':
      if (attempt.state !== 'paired' || attempt.channelId === null || attempt.number === null) return []
      return [{ type: 'AttemptConnected', at, data: { channelId: attempt.channelId, number: attempt.number } }]
    case 'Fail':
      // A paired attempt fails only because its number's claim was lost.
      if (!isPairing(attempt) && attempt.state !== 'paired') return []
      return [{ type: 'AttemptFailed', at, data: { code: command.code } }]
    case 'Expire':
      return isPairing(attempt) && at >= attempt.expiresAt ? [{ type: 'AttemptExpired', at, data: {} }] : []
    case 'Cancel':
      if (attempt.state === 'paired' || attempt.state === 'connected') return reject('attempt_not_cancellable')
      return isPairing(attempt) ? [{ type: 'AttemptCancelled', at, data: {} }] : []
  }
}

function evolve(attempt: Attempt, event: AttemptEvent): Attempt {
  switch (event.type) {
    case 'AttemptStarted': {
      const { attemptId, tenantId, label, session, expiresAt } = event.data
      return { ...initial, state: 'connecting', id: attemptId, tenantId, label, session, expiresAt }
    }
    case 'AttemptQrOffered':
      return { ...attempt, state: 'scan_qr' }
    case 'AttemptPaired':
      return { ...attempt, state: 'paired', channelId: event.data.channelId, number: event.data.number }
    case 'AttemptConnected':
      return { ...attempt, state: 'connected' }
    case 'AttemptFailed':
      return { ...attempt, state: 'failed', lastError: event.data.code }
    case 'AttemptExpired':
      return { ...attempt, state: 'expired' }
    case 'AttemptCancelled':
      return { ...attempt, state: 'cancelled' }
  }
}

export const attempt: Decider<Attempt, AttemptCommand, AttemptEvent> = { initial, decide, evolve }
