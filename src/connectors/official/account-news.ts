import type { Update } from '../port.ts'
import { isoOfSeconds, type Loose, listOf, objectOf, textOf, textUpTo } from './loose-json.ts'

/** The platform's template events, in the service's statuses (`provider-official`, 7.3). */
const TEMPLATE_STATUS: ReadonlyMap<string, string> = new Map([
  ['APPROVED', 'approved'],
  ['REINSTATED', 'approved'],
  ['UNARCHIVED', 'approved'],
  ['REJECTED', 'rejected'],
  ['PENDING', 'pending'],
  ['IN_APPEAL', 'pending'],
  ['PAUSED', 'paused'],
  ['LIMIT_EXCEEDED', 'paused'],
  ['DISABLED', 'disabled'],
  ['LOCKED', 'disabled'],
  ['ARCHIVED', 'disabled'],
  ['FLAGGED', 'flagged'],
  ['PENDING_DELETION', 'deleted'],
  ['DELETED', 'deleted']
])

/** The restriction that bars a number from writing to people first; others leave sending as it is. */
const BARS_NEW_CONTACTS = 'RESTRICTED_BIZ_INITIATED_MESSAGING'

/** In the service's statuses; null for a word that says nothing to us. */
export const templateStatusOf = (word: string | null): string | null => TEMPLATE_STATUS.get(word ?? '') ?? null

/** The platform's own limit of a name, and more than any language code takes. */
const NAME_CHARS_MAX = 512
const LANGUAGE_CHARS_MAX = 20

/** `message_template_status_update`. */
export function templateNewsOf(value: Loose): Update {
  const name = textUpTo(value.message_template_name, NAME_CHARS_MAX)
  const language = textUpTo(value.message_template_language, LANGUAGE_CHARS_MAX)
  const status = templateStatusOf(textOf(value.event))
  if (name === null || language === null || status === null) {
    return { kind: 'ignored', reason: 'message_template_status_update' }
  }
  return { kind: 'template', name, language: language.replaceAll('-', '_'), status }
}

/** `account_update`: restrictions on writing first, each with its end (`provider-official`, 7.4). */
export function accountNewsOf(value: Loose): Update[] {
  const event = textOf(value.event) ?? 'unknown'
  const ignored: Update = { kind: 'ignored', reason: `account_update:${event}` }
  if (event !== 'ACCOUNT_RESTRICTION') return [ignored]
  const items = listOf(value.restriction_info)
  if (items.length === 0) return [ignored]
  return items.map((item): Update => {
    const info = objectOf(item)
    const code = textOf(info.restriction_type)
    return code === BARS_NEW_CONTACTS ? { kind: 'restriction', until: isoOfSeconds(info.expiration), code } : ignored
  })
}

/** `user_preferences`: a contact stops, or allows again, marketing messages. */
export function preferenceNewsOf(value: Loose): Update[] {
  return listOf(value.user_preferences).map((item): Update => {
    const preference = objectOf(item)
    const address = textOf(preference.wa_id) ?? textOf(preference.user_id)
    const choice = textOf(preference.value)
    const optedOut = choice === 'stop'
    if (address === null || !(optedOut || choice === 'resume' || choice === 'signup')) {
      return { kind: 'ignored', reason: 'user_preferences' }
    }
    return { kind: 'opt_out', address, optedOut, providerAt: isoOfSeconds(preference.timestamp) }
  })
}
