/**
 * The hand on the simulated world: plain JSON, no key. Success is 200, else 400, 404 or 409 with `{ error }`.
 *
 *   GET    /_control/state                     settings, sessions and figures
 *   POST   /_control/reset                     as after the start: no sessions, faults, sends, keys; first settings
 *   POST   /_control/settings                  { autoAcks?, autoScan?, delaysMs?, recordSends?, countSends?,
 *                                                missingQuote?: 'drop' | 'refuse', fetchFiles?,
 *                                                webhookJitterMs? } -> settings
 *   POST   /_control/online                    { online }: false destroys every API socket, and new ones
 *   POST   /_control/contacts                  { missing?: [number], withoutNinthDigit?: [number],
 *                                                lids?: { lid: number | null } }
 *   POST   /_control/faults                    { fault, match?: { chatId?, session?, text? }, times?, accept?, ms?,
 *                                                status?, message?, error? }; GET lists, DELETE clears all
 *   POST   /_control/session-faults            { on: 'create' | 'qr' | 'look', fault, times?, accept?, status?,
 *                                                message? }
 *   GET    /_control/sends?list=1              { total, accepted, byText, uncounted, list? }
 *   GET    /_control/webhooks                  { pending, posted, delivered, retried, givenUp, dropped, upcoming }
 *   POST   /_control/webhook                   { url, body, hmacKey?, headers? } -> { status }: posts anything
 *   POST   /_control/drain                     { timeoutMs? } -> { drained, pending }: nothing pending, no ack to come
 *   POST   /_control/sessions/{s}/scan         { number?, waitMs? }: waits for a QR, then the phone scans it
 *   POST   /_control/sessions/{s}/unlink | drop | recover | ban | lose
 *   POST   /_control/sessions/{s}/silence      { on }
 *   POST   /_control/sessions/{s}/restrict     { active?, until?: ISO | null, enforcementType? }
 *   POST   /_control/sessions/{s}/inbound      { from, message: { kind, … }, pushName?, timestamp?, id?, fromMe?, lid?,
 *                                                lidKnown?, group?, count? } -> { status, id, ids }
 *   POST   /_control/sessions/{s}/ack          { id, ack, error?, chatId? } -> { status, id }
 *   POST   /_control/sessions/{s}/event        { event, payload } -> { status, id: null }
 */

import { sessionControlRoutes } from './control-sessions.ts'
import { withoutNinthDigit } from './directory.ts'
import { asArray, asBoolean, asFields, asNumber, asString, type Fields, isFields } from './fields.ts'
import { digitsOf } from './ids.ts'
import { armAutoScan } from './qr.ts'
import { type Answer, json, type Routes } from './routing.ts'
import { accountOf } from './sessions.ts'
import type { AutoScan, World } from './world.ts'

/** All control routes, those of single sessions included. */
export const controlRoutes: Routes = {
  'GET /_control/state': world => json(200, stateOf(world)),
  'POST /_control/reset': world => {
    world.reset()
    return json(200, {})
  },
  'POST /_control/settings': (world, { body }) => {
    changeSettings(world, body)
    return json(200, world.settings)
  },
  'POST /_control/online': (world, { body }) => {
    world.setOnline(body.online !== false)
    return json(200, { online: world.isOnline() })
  },
  'POST /_control/contacts': (world, { body }) => {
    for (const number of asArray(body.missing)) world.directory.missing.add(digitsOf(String(number)))
    for (const number of asArray(body.withoutNinthDigit)) {
      world.directory.short.add(withoutNinthDigit(digitsOf(String(number))))
    }
    for (const [lid, number] of Object.entries(asFields(body.lids))) {
      if (number === null) world.directory.forgetLid(lid)
      else world.directory.learnLid(lid, digitsOf(String(number)))
    }
    return json(200, {})
  },
  'POST /_control/faults': (world, { body }) => added(world.faults.add(body)),
  'POST /_control/session-faults': (world, { body }) => added(world.faults.addForSessions(body)),
  'GET /_control/faults': world => json(200, world.faults.list()),
  'DELETE /_control/faults': world => {
    world.faults.clear()
    return json(200, {})
  },
  'GET /_control/sends': (world, { query }) => json(200, world.ledger.report(query.get('list') === '1')),
  'GET /_control/webhooks': world => json(200, { ...world.webhooks.counts(), upcoming: world.upcoming }),
  'POST /_control/webhook': async (world, { body }) => {
    const url = asString(body.url)
    if (url === undefined) return json(400, { error: 'url is missing' })
    const raw = typeof body.body === 'string' ? body.body : JSON.stringify(body.body ?? {})
    const headers = Object.fromEntries(Object.entries(asFields(body.headers)).map(([key, text]) => [key, String(text)]))
    return json(200, { status: await world.webhooks.post(url, raw, asString(body.hmacKey) ?? null, headers) })
  },
  'POST /_control/drain': (world, { body }) => drain(world, asNumber(body.timeoutMs) ?? DRAIN_MS),
  ...sessionControlRoutes
}

const DRAIN_MS = 5000
const DRAIN_LOOK_MS = 5

const added = (problem: string | null): Answer => (problem === null ? json(200, {}) : json(400, { error: problem }))

async function drain(world: World, timeoutMs: number): Promise<Answer> {
  const deadline = world.now() + timeoutMs
  const left = () => world.webhooks.pending() + world.upcoming
  while (left() > 0 && world.now() < deadline) await world.timers.wait(DRAIN_LOOK_MS)
  return json(200, { drained: left() === 0, pending: left() })
}

function stateOf(world: World) {
  const { total, accepted } = world.ledger.report(false)
  return {
    engine: world.engine,
    online: world.isOnline(),
    settings: world.settings,
    sessions: [...world.sessions.values()].map(session => ({
      name: session.name,
      status: session.status,
      me: accountOf(world, session),
      number: session.login?.number ?? null,
      qrsShown: session.qr?.shown ?? 0,
      offline: session.offline,
      silent: session.silent,
      banned: session.banned,
      restriction: session.restriction,
      messages: session.messages.size
    })),
    sends: { total, accepted },
    webhooks: { ...world.webhooks.counts(), upcoming: world.upcoming },
    faults: world.faults.list().faults.length
  }
}

function changeSettings(world: World, body: Fields): void {
  const { settings } = world
  settings.autoAcks = asBoolean(body.autoAcks) ?? settings.autoAcks
  settings.recordSends = asBoolean(body.recordSends) ?? settings.recordSends
  settings.countSends = asBoolean(body.countSends) ?? settings.countSends
  settings.fetchFiles = asBoolean(body.fetchFiles) ?? settings.fetchFiles
  settings.webhookJitterMs = asNumber(body.webhookJitterMs) ?? settings.webhookJitterMs
  if (body.missingQuote === 'drop' || body.missingQuote === 'refuse') settings.missingQuote = body.missingQuote
  const { server, device, read } = asFields(body.delaysMs)
  settings.delaysMs = {
    server: asNumber(server) ?? settings.delaysMs.server,
    device: asNumber(device) ?? settings.delaysMs.device,
    read: asNumber(read) ?? settings.delaysMs.read
  }
  if (body.autoScan === undefined) return
  settings.autoScan = isFields(body.autoScan) ? autoScanOf(body.autoScan) : null
  for (const session of world.sessions.values()) armAutoScan(world, session)
}

function autoScanOf({ afterMs, number }: Fields): AutoScan {
  const wait = { afterMs: asNumber(afterMs) ?? 0 }
  const digits = digitsOf(asString(number) ?? '')
  return digits === '' ? wait : { ...wait, number: digits }
}
