import { postAccountEvent } from './account-events.ts'
import { postStatus, postWebhook, report } from './control-traffic.ts'
import { addSignupCode } from './discovery.ts'
import { addFault } from './faults.ts'
import { postInbound } from './inbound.ts'
import { isObject, type Json, type JsonObject, listOf, numberOf, parseJson, scalarOf, textOf } from './json.ts'
import { addNumber, addToken, addWaba } from './seed.ts'
import { changeSettings } from './settings.ts'
import type { Sim } from './sim.ts'
import { newId } from './state.ts'
import { addTemplate } from './templates.ts'
import { type Answer, json } from './wire.ts'

/**
 * The control API of the simulator: plain JSON under `/_control/`, for tests in this or another process. A mistake in a
 * call is answered 400 `{ error }`; everything else is 200.
 *
 * Seeds, each one object or a list of them, answered `{ ok: true, ids }`:
 *   POST wabas         { id, name?, businessId?, businessName?, shared?, numbers?: [number] }
 *   POST numbers       { wabaId, id, displayNumber, verifiedName?, registered?, verified?, pin?, quality?, status? }
 *   POST tokens        { token, wabas?: [id] | 'all', scopes?, state?: valid | expired | revoked | password_changed, userId? }
 *   POST templates     { wabaId, name, language, category?, status?, components?, parameterFormat?, id? }
 *   POST signup-codes  { code?, token?, wabas?, scopes? }       ids are the codes
 * World:
 *   POST callback      { url: string | null, verify? }          verify does the handshake first: { ok, verified }
 *   POST settings      any part of the settings                 { ok, settings }
 *   POST online        { online }                               false destroys the socket of every Graph call
 *   POST reset         { keep? }                                back to the start; keep leaves seeds and settings
 *   GET  state
 * Faults (see faults.ts for the kinds):
 *   POST faults        { match?: { to?, phoneNumberId?, callbackData? }, times?, fault, ... }   { ok, id }
 *   GET  faults, DELETE faults?id=
 * Traffic:
 *   GET  sends         ?list=1, ?counts=0, ?duplicates=1, ?callbackData=
 *   POST inbound       { phoneNumberId, from?, fromUserId?, profileName?, message, count?, batch?, duplicates?, media?,
 *                        contacts?, valueErrors?, timestamp? }
 *   POST status        { wamid | callbackData, status, errors?, timestamp?, phoneNumberId?, to?, duplicates? }
 *   POST webhook       { body | raw, sign?: boolean | 'wrong', url?, retry?, repeat? }
 *   POST account       { kind, ... } or { field, value, wabaId | entryId }
 *   GET  webhooks, POST drain { timeoutMs? }
 */
export async function controlCall(
  sim: Sim,
  reset: () => void,
  method: string,
  route: string,
  query: URLSearchParams,
  raw: Buffer
): Promise<Answer> {
  const parsed = raw.length === 0 ? {} : parseJson(raw.toString('utf8'))
  if (parsed === undefined) return json({ error: 'the body is not JSON' }, 400)
  const result =
    method === 'GET' || method === 'DELETE' ? report(sim, method, route, query) : await order(sim, reset, route, parsed)
  if (typeof result === 'string') return json({ error: result }, 400)
  return result === undefined ? json({ error: `no route ${method} ${route}` }, 404) : json(result)
}

type Adder = (sim: Sim, seed: JsonObject) => { id: string } | string

const TEMPLATE_BODY: JsonObject = { type: 'BODY', text: 'Hello from the template.' }

function seedTemplate(sim: Sim, seed: JsonObject): { id: string } | string {
  const wabaId = scalarOf(seed.wabaId)
  const name = textOf(seed.name)
  const language = textOf(seed.language)
  if (wabaId === undefined || !sim.state.wabas.has(wabaId)) return 'wabaId is unknown'
  if (!name || !language) return 'a template needs name and language'
  const id = scalarOf(seed.id)
  const components = listOf(seed.components).filter(isObject)
  return addTemplate(sim, {
    ...(id === undefined ? {} : { id }),
    wabaId,
    name,
    language,
    category: textOf(seed.category) ?? 'UTILITY',
    status: textOf(seed.status) ?? 'APPROVED',
    parameterFormat: textOf(seed.parameterFormat) ?? 'POSITIONAL',
    components: components.length > 0 ? components : [TEMPLATE_BODY],
    quality: textOf(seed.quality) ?? 'GREEN',
    rejectedReason: textOf(seed.rejectedReason) ?? 'NONE'
  })
}

const ADDERS: Record<string, Adder> = {
  wabas: (sim, seed) => addWaba(sim.state, seed),
  numbers: (sim, seed) => addNumber(sim.state, scalarOf(seed.wabaId) ?? '', seed),
  tokens: (sim, seed) => {
    const token = addToken(sim.state, seed)
    return typeof token === 'string' ? token : { id: token.token }
  },
  templates: seedTemplate,
  'signup-codes': (sim, seed) => ({ id: addSignupCode(sim, seed) })
}

function addAll(sim: Sim, add: Adder, body: Json): JsonObject | string {
  const ids: string[] = []
  for (const seed of Array.isArray(body) ? body : [body]) {
    const added = isObject(seed) ? add(sim, seed) : 'a seed must be an object'
    if (typeof added === 'string') return added
    ids.push(added.id)
  }
  return { ok: true, ids }
}

async function setCallback(sim: Sim, body: JsonObject): Promise<JsonObject | string> {
  const url = body.url === null ? null : textOf(body.url)
  if (url === undefined) return 'url must be a text or null'
  const verified =
    url !== null && body.verify === true ? await sim.webhooks.handshake(url, sim.state.verifyToken) : null
  if (verified !== false) sim.state.callbackUrl = url
  return { ok: verified !== false, verified }
}

function setSettings(sim: Sim, body: JsonObject): JsonObject | string {
  const wrong = changeSettings(sim.state.settings, body)
  if (wrong !== null) return `the setting ${wrong} does not exist or has another type`
  if (body.webhookTimeoutMs !== undefined) sim.webhooks.renewTimeout()
  return { ok: true, settings: sim.state.settings as unknown as JsonObject }
}

async function order(sim: Sim, reset: () => void, route: string, body: Json): Promise<JsonObject | string | undefined> {
  const add = ADDERS[route]
  if (add) return addAll(sim, add, body)
  if (!isObject(body)) return 'the body must be an object'
  switch (route) {
    case 'callback':
      return setCallback(sim, body)
    case 'settings':
      return setSettings(sim, body)
    case 'online':
      if (typeof body.online !== 'boolean') return 'online must be a boolean'
      sim.state.online = body.online
      return { ok: true, online: sim.state.online }
    case 'reset':
      resetWorld(sim, reset, body.keep === true)
      return { ok: true }
    case 'faults': {
      const fault = addFault(sim.state.faults, body, newId(sim.state, 0))
      return typeof fault === 'string' ? fault : { ok: true, id: fault.id }
    }
    case 'inbound':
      return postInbound(sim, body)
    case 'status':
      return postStatus(sim, body)
    case 'webhook':
      return postWebhook(sim, body)
    case 'account':
      return postAccountEvent(sim, body)
    case 'drain':
      return drain(sim, numberOf(body.timeoutMs) ?? 10_000)
    default:
      return undefined
  }
}

/** A full reset goes back to the options; `keep` forgets only traffic: sends, faults, pending and counted webhooks. */
function resetWorld(sim: Sim, reset: () => void, keep: boolean): void {
  const { ids, callbackUrl, settings, ...before } = sim.state
  const { businesses, wabas, numbers, templates, tokens, media, mediaBytes, handles, signupCodes } = before
  const seeds = { businesses, wabas, numbers, templates, tokens, media, mediaBytes, handles, signupCodes }
  reset()
  if (keep) Object.assign(sim.state, { callbackUrl, settings, ...seeds })
  // Ids go on counting, so nothing from before the reset can be mistaken for something new.
  sim.state.ids = ids
}

const DRAIN_POLL_MS = 5
const MAX_DRAIN_MS = 600_000

/** Resolves when no status is due and no webhook is queued, in flight or waiting for a retry, or when time is up. */
async function drain(sim: Sim, timeoutMs: number): Promise<JsonObject> {
  const deadline = sim.now() + Math.min(timeoutMs, MAX_DRAIN_MS)
  const left = () => sim.webhooks.pending() + sim.timeline.waiting()
  while (left() > 0 && sim.now() < deadline) await new Promise(resolve => setTimeout(resolve, DRAIN_POLL_MS))
  return { drained: left() === 0, pending: left() }
}
