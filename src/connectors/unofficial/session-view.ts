import { isObject, isoOfMilliseconds, isoOfSeconds, type Loose, objectOf, textOf } from '../official/loose-json.ts'
import type { Engine, SessionStatus, SessionView } from '../port.ts'
import { addressOf } from './identifiers.ts'

type Restriction = { readonly active: boolean; readonly until: string | null }

const STATUSES: ReadonlyMap<string, SessionStatus> = new Map([
  ['STARTING', 'starting'],
  ['SCAN_QR_CODE', 'scan_qr'],
  ['WORKING', 'working'],
  ['STOPPED', 'stopped'],
  ['FAILED', 'failed'],
  ['PASSKEY_REQUIRED', 'passkey_required'],
  ['PASSKEY_CONFIRMATION_REQUIRED', 'passkey_required']
])

/** WPP drives the same browser client as WEBJS. */
const ENGINES: ReadonlyMap<string, Engine> = new Map([
  ['WEBJS', 'webjs'],
  ['WPP', 'webjs'],
  ['NOWEB', 'noweb'],
  ['GOWS', 'gows']
])

/** Our word for a session status (`provider-unofficial`, 2.1), null for an unknown one. */
export function sessionStatusOf(value: unknown): SessionStatus | null {
  return STATUSES.get(textOf(value) ?? '') ?? null
}

export function engineOf(value: unknown): Engine | null {
  return ENGINES.get((textOf(value) ?? '').toUpperCase()) ?? null
}

/** Digits of the account's own number, null before login. */
export function ownNumberOf(me: unknown): string | null {
  const id = textOf(objectOf(me).id)
  const address = id === null ? '' : addressOf(id)
  return /^\d{4,20}$/.test(address) ? address : null
}

/**
 * The restriction on new contacts, null when nothing is said about it (`provider-unofficial`, 8):
 * some engines tell it as `reachoutTimelock` with seconds, some as `restriction` with an ISO time.
 */
export function restrictionOf(node: unknown): Restriction | null {
  const { reachoutTimelock: lock, restriction } = objectOf(node)
  if (isObject(lock) && typeof lock.isActive === 'boolean') {
    return { active: lock.isActive, until: lock.isActive ? isoOfSeconds(lock.timeEnforcementEnds) : null }
  }
  if (isObject(restriction) && typeof restriction.active === 'boolean') {
    return { active: restriction.active, until: restriction.active ? isoOfText(restriction.until) : null }
  }
  return null
}

/** An ISO time rewritten in our precision, null when it is none. */
export function isoOfText(value: unknown): string | null {
  return isoOfMilliseconds(Date.parse(textOf(value) ?? ''))
}

/** A session object as `look` answers it; null when its status is none that we know. */
export function sessionViewOf(body: Loose): SessionView | null {
  const status = sessionStatusOf(body.status)
  if (status === null) return null
  return { status, number: ownNumberOf(body.me), restriction: restrictionOf(body) ?? restrictionOf(body.me) }
}
