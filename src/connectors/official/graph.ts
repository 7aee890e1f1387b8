/** Management calls to the Graph API: one answer, or the items of a list page by page. */
import type { CallResult, OfficialLine } from '../port.ts'
import { verdictOf } from './errors.ts'
import { type Exchange, type HttpClient, INVALID_HEADER } from './exchange.ts'
import { type Loose, listOf, objectOf, parseObject, textOf } from './loose-json.ts'
import { type GraphError, graphErrorOf, withoutToken } from './send-answer.ts'

/** The platform's own maximum for a page. */
const PAGE_ITEMS = 100
/** 10,000 items, above what one business account may hold of anything. */
const PAGES_MAX = 100

/**
 * Looks through a list (`path` has a query already) until `wanted` says yes: true then, false at the end of the list.
 * Answers as `ask` does when a page cannot be had.
 */
export async function findInPages(
  http: HttpClient,
  line: OfficialLine,
  path: string,
  timeoutMs: number,
  wanted: (item: Loose) => boolean
): Promise<CallResult<boolean>> {
  let after = ''
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await ask(http, 'GET', line, `${path}&limit=${PAGE_ITEMS}${after}`, timeoutMs)
    if (answer.kind !== 'ok') return answer
    if (listOf(answer.value.data).some(item => wanted(objectOf(item)))) return { kind: 'ok', value: true }
    const paging = objectOf(answer.value.paging)
    const cursor = textOf(objectOf(paging.cursors).after)
    // The cursor is there on the last page too; only `next` says that another one follows.
    if (textOf(paging.next) === null || cursor === null) break
    after = `&after=${encodeURIComponent(cursor)}`
  }
  return { kind: 'ok', value: false }
}

/** `refused` with `credentials_rejected` or `provider_rejected`; `unavailable` for what may work later. */
export async function ask(
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
