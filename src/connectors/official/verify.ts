import type { CallResult, OfficialLine, VerifiedNumber } from '../port.ts'
import { verdictOf } from './errors.ts'
import { type Exchange, type HttpClient, INVALID_HEADER } from './exchange.ts'
import { idOf, type Loose, listOf, objectOf, parseObject, textOf } from './loose-json.ts'
import { type GraphError, graphErrorOf, withoutToken } from './send-answer.ts'

const NUMBER_FIELDS = 'id,display_phone_number,verified_name,platform_type'
/** The platform's own maximum for a page. */
const PAGE_ITEMS = 100
/** 10,000 numbers, far above what one business account may hold. */
const PAGES_MAX = 100

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
  const number = await get(http, line, numberPath, timeoutMs)
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
  const path = `/${encodeURIComponent(line.wabaId)}/phone_numbers?fields=id&limit=${PAGE_ITEMS}`
  let after = ''
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await get(http, line, path + after, timeoutMs)
    if (answer.kind !== 'ok') return answer
    if (listOf(answer.value.data).some(item => idOf(objectOf(item).id) === line.phoneNumberId)) {
      return { kind: 'ok', value: null }
    }
    const paging = objectOf(answer.value.paging)
    const cursor = textOf(objectOf(paging.cursors).after)
    // The cursor is there on the last page too; only `next` says that another one follows.
    if (textOf(paging.next) === null || cursor === null) break
    after = `&after=${encodeURIComponent(cursor)}`
  }
  const detail = 'the business account does not list this number'
  return { kind: 'refused', code: 'credentials_rejected', detail }
}

function get(http: HttpClient, line: OfficialLine, path: string, timeoutMs: number): Promise<CallResult<Loose>> {
  return ask(http, 'GET', line, path, timeoutMs)
}

async function ask(
  http: HttpClient,
  method: 'GET' | 'POST',
  line: OfficialLine,
  path: string,
  timeoutMs: number
): Promise<CallResult<Loose>> {
  const headers = ['authorization', `Bearer ${line.accessToken}`]
  const exchange = await http.call({ method, path, headers, body: null, signal: AbortSignal.timeout(timeoutMs) })
  return resultOf(exchange, line.accessToken)
}

function resultOf(exchange: Exchange, accessToken: string): CallResult<Loose> {
  if (exchange.kind !== 'answered') {
    if (exchange.reason !== INVALID_HEADER) return { kind: 'unavailable', detail: exchange.reason }
    return { kind: 'refused', code: 'credentials_rejected', detail: exchange.reason }
  }
  const body = parseObject(exchange.body)
  const error = graphErrorOf(body)
  if (error !== null) return refusalOf(error, accessToken)
  const succeeded = exchange.status >= 200 && exchange.status <= 299
  if (!succeeded || body === null) return { kind: 'unavailable', detail: `http ${exchange.status}` }
  return { kind: 'ok', value: body }
}

/** Object not found, or not visible to this token: the platform does not say which. */
function isInvisible(error: GraphError): boolean {
  return error.code === 803 || (error.code === 100 && error.subcode === 33)
}

function refusalOf(error: GraphError, accessToken: string): CallResult<Loose> {
  const detail = withoutToken(error.detail, accessToken)
  const verdict = verdictOf(error.code, false)
  if (verdict.kind === 'retry') return { kind: 'unavailable', detail }
  const blamesCredentials = verdict.code === 'credentials_rejected' || isInvisible(error)
  return { kind: 'refused', code: blamesCredentials ? 'credentials_rejected' : 'provider_rejected', detail }
}
