import type { CallResult, OfficialLine, VerifiedNumber } from '../port.ts'
import type { HttpClient } from './exchange.ts'
import { ask, findInPages } from './graph.ts'
import { idOf, textOf } from './loose-json.ts'

const NUMBER_FIELDS = 'id,display_phone_number,verified_name,platform_type'
/**
 * Proves a pair of credentials (`provider-official`, 4.1 and 4.2): the token reads the number, and the business
 * account lists it. Refused with `credentials_rejected` or `provider_rejected`.
 */
export async function verify(
  http: HttpClient,
  line: OfficialLine,
  timeoutMs: number
): Promise<CallResult<VerifiedNumber>> {
  const numberPath = `/${encodeURIComponent(line.phoneNumberId)}?fields=${NUMBER_FIELDS}`
  const number = await ask(http, 'GET', line, numberPath, timeoutMs)
  if (number.kind !== 'ok') return number
  const digits = (textOf(number.value.display_phone_number) ?? '').replace(/\D/g, '')
  if (digits === '') return { kind: 'refused', code: 'provider_rejected', detail: 'the number is not shown' }
  const owned = await ownsNumber(http, line, timeoutMs)
  if (owned.kind !== 'ok') return owned
  const verifiedName = textOf(number.value.verified_name)
  return { kind: 'ok', value: { number: digits, verifiedName, platformType: textOf(number.value.platform_type) } }
}

/** Subscribes the token's app to the business account (`provider-official`, 5.1). */
export async function subscribe(http: HttpClient, line: OfficialLine, timeoutMs: number): Promise<CallResult<null>> {
  const path = `/${encodeURIComponent(line.wabaId)}/subscribed_apps`
  const answer = await ask(http, 'POST', line, path, timeoutMs)
  if (answer.kind !== 'ok') return answer
  if (answer.value.success === true) return { kind: 'ok', value: null }
  return { kind: 'refused', code: 'provider_rejected', detail: 'the subscription was not confirmed' }
}

async function ownsNumber(http: HttpClient, line: OfficialLine, timeoutMs: number): Promise<CallResult<null>> {
  const path = `/${encodeURIComponent(line.wabaId)}/phone_numbers?fields=id`
  const listed = await findInPages(http, line, path, timeoutMs, item => idOf(item.id) === line.phoneNumberId)
  if (listed.kind !== 'ok') return listed
  if (listed.value) return { kind: 'ok', value: null }
  return { kind: 'refused', code: 'credentials_rejected', detail: 'the business account does not list this number' }
}
