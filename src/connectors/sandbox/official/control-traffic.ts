import { escapedJson, isObject, type Json, type JsonObject, listOf, numberOf, scalarOf, textOf } from './json.ts'
import type { Accepted } from './ledger.ts'
import type { Sim } from './sim.ts'
import { failedWith } from './status-plan.ts'
import { callbackOf, type StatusUpdate } from './status-updates.ts'

/** What a control call reads, or clears with DELETE. Undefined: no such route. */
export function report(sim: Sim, method: string, route: string, query: URLSearchParams): Json | undefined {
  if (route === 'faults') return method === 'DELETE' ? clearFaults(sim, query.get('id')) : listFaults(sim)
  if (method !== 'GET') return undefined
  if (route === 'sends') return sends(sim, query)
  if (route === 'webhooks') return webhooks(sim)
  return route === 'state' ? stateView(sim) : undefined
}

const listFaults = (sim: Sim): JsonObject => ({
  faults: sim.state.faults.map(({ id, kind, match, left, hits }) => ({ id, fault: kind, match, left, hits }))
})

function clearFaults(sim: Sim, id: string | null): JsonObject {
  const { faults } = sim.state
  const kept = id === null ? [] : faults.filter(fault => fault.id !== id)
  const cleared = faults.length - kept.length
  faults.splice(0, faults.length, ...kept)
  return { ok: true, cleared }
}

function sends(sim: Sim, query: URLSearchParams): JsonObject {
  const { totals, counts, list, reads } = sim.state.ledger
  const one = query.get('callbackData')
  const answer: JsonObject = { ...totals, distinct: counts.size }
  if (one !== null) answer.byCallbackData = { [one]: counts.get(one) ?? 0 }
  else if (query.get('duplicates') === '1') {
    answer.byCallbackData = Object.fromEntries([...counts].filter(([, count]) => count > 1))
  } else if (query.get('counts') !== '0') answer.byCallbackData = Object.fromEntries(counts)
  if (query.get('list') === '1') {
    answer.list = list().map(({ numberId, at, ...send }) => ({
      ...send,
      phoneNumberId: numberId,
      time: new Date(at).toISOString()
    }))
    answer.reads = reads()
  }
  return answer
}

const webhooks = ({ webhooks, timeline }: Sim): JsonObject => ({
  ...webhooks.counts,
  dropped: webhooks.counts.dropped + timeline.dropped(),
  pending: webhooks.pending(),
  scheduled: timeline.waiting()
})

function stateView({ state }: Sim): JsonObject {
  return {
    appId: state.appId,
    callbackUrl: state.callbackUrl,
    online: state.online,
    settings: state.settings as unknown as JsonObject,
    businesses: [...state.businesses].map(([id, name]) => ({ id, name })),
    wabas: [...state.wabas.values()].map(waba => ({ ...waba })),
    numbers: [...state.numbers.values()].map(({ bucket, registrations, ...number }) => number),
    templates: [...state.templates.values()].map(template => ({ ...template })),
    tokens: [...state.tokens.values()].map(({ token, wabas, scopes, state: life, userId }) => ({
      token,
      wabas: wabas === 'all' ? 'all' : [...wabas],
      scopes: [...scopes],
      state: life,
      userId
    })),
    media: [...state.media.values()].map(({ id, mimeType, numberId, bytes }) => ({
      id,
      mimeType,
      phoneNumberId: numberId,
      size: bytes.length
    })),
    faults: state.faults.length,
    optedOut: [...state.optedOut]
  }
}

/** The send a status call speaks of, or one made up for a wamid that was never seen here. */
function sendFor(sim: Sim, body: JsonObject): Accepted | string {
  const { ledger, numbers } = sim.state
  const callbackData = textOf(body.callbackData)
  const wamid = textOf(body.wamid)
  const known = wamid === undefined ? ledger.lastSendFor(callbackData ?? '') : ledger.sendOf(wamid)
  if (known) return known
  if (wamid === undefined) return 'no recent send has this callbackData'
  const numberId = scalarOf(body.phoneNumberId) ?? numbers.keys().next().value ?? ''
  const waId = (scalarOf(body.to) ?? '5511900000001').replace(/\D/g, '')
  const at = sim.now()
  return { wamid, numberId, to: waId, waId, userId: undefined, callbackData, category: 'service', type: 'text', at }
}

/** Posts one status of a message in a webhook of its own. */
export async function postStatus(sim: Sim, body: JsonObject): Promise<JsonObject | string> {
  const status = textOf(body.status)
  if (!status) return 'status is needed'
  const send = sendFor(sim, body)
  if (typeof send === 'string') return send
  const update: StatusUpdate = {
    send,
    status,
    timestamp: Number(scalarOf(body.timestamp) ?? Math.floor(sim.now() / 1000))
  }
  if (Array.isArray(body.errors)) update.errors = body.errors.filter(isObject)
  else if (status === 'failed') update.errors = failedWith({ code: 131026 })
  let answered = await sim.webhooks.together([update])
  for (let again = numberOf(body.duplicates) ?? 0; again > 0; again--) answered = await sim.webhooks.together([update])
  return { status: answered, wamid: send.wamid }
}

/** Posts any envelope, or raw text, signed, unsigned or signed wrongly; not retried unless asked. */
export async function postWebhook(sim: Sim, body: JsonObject): Promise<JsonObject | string> {
  const raw = textOf(body.raw) ?? (isObject(body.body) ? escapedJson(body.body) : undefined)
  if (raw === undefined) return 'body must be an object, or raw a text'
  const url = textOf(body.url) ?? defaultUrl(sim, body)
  if (!url) return 'no callback URL'
  const sign = body.sign === 'wrong' ? 'wrong' : body.sign !== false
  const statuses: (number | null)[] = []
  for (let left = Math.max(1, numberOf(body.repeat) ?? 1); left > 0; left--) {
    statuses.push(await sim.webhooks.post(url, raw, { sign, retry: body.retry === true }))
  }
  return { status: statuses.at(-1) ?? null, statuses }
}

/** The receiver of the number that the envelope names, else the app's callback. */
function defaultUrl({ state }: Sim, body: JsonObject): string | null {
  const entry = listOf(isObject(body.body) ? body.body.entry : undefined)[0]
  const change = listOf(isObject(entry) ? entry.changes : undefined)[0]
  const value = isObject(change) && isObject(change.value) ? change.value : {}
  const numberId = isObject(value.metadata) ? scalarOf(value.metadata.phone_number_id) : undefined
  return numberId === undefined ? state.callbackUrl : (callbackOf(state, numberId) ?? state.callbackUrl)
}
