import { randomBytes } from 'node:crypto'
import { authenticate, BUSINESS, isToken, lacks, MANAGEMENT, sees } from './access.ts'
import { badParameter, refuse, requiredParameter, unknownObject } from './errors.ts'
import { page } from './fields.ts'
import type { JsonObject } from './json.ts'
import { textOf } from './json.ts'
import { addToken, SIGNUP_SCOPES } from './seed.ts'
import type { Call, Sim } from './sim.ts'
import type { Waba } from './state.ts'
import { openUpload } from './uploads.ts'
import { wabaView } from './wabas.ts'
import { type Answer, json, success } from './wire.ts'

/** `GET /oauth/access_token`: exchanges a single-use signup code, or gives the app token. */
export function accessToken(sim: Sim, params: JsonObject): Answer {
  const { state } = sim
  if (params.client_id !== state.appId) {
    return refuse(101, undefined, {
      status: 400,
      message: 'Error validating application. Cannot get application info.'
    })
  }
  if (params.client_secret !== state.appSecret) {
    return refuse(1, undefined, { message: 'Error validating client secret.' })
  }
  if (params.grant_type === 'client_credentials') {
    return json({ access_token: `${state.appId}|${state.appSecret}`, token_type: 'bearer' })
  }
  const code = state.signupCodes.get(textOf(params.code) ?? '')
  if (!code || code.used) {
    const message = code ? 'This authorization code has been used.' : 'Invalid verification code format.'
    return refuse(100, undefined, { subcode: code ? 36009 : 36007, message })
  }
  code.used = true
  return json({ access_token: code.token, token_type: 'bearer' })
}

/** Registers a single-use code; its token sees only the given accounts. Answers the code. */
export function addSignupCode(sim: Sim, seed: JsonObject): string {
  const code = textOf(seed.code) ?? `AQ${randomBytes(12).toString('hex')}`
  const token = textOf(seed.token) ?? `EAAB${randomBytes(16).toString('hex')}`
  if (!sim.state.tokens.has(token)) addToken(sim.state, { scopes: SIGNUP_SCOPES, ...seed, token })
  sim.state.signupCodes.set(code, { token, used: false })
  return code
}

/** `GET /debug_token`. */
export function debugToken(sim: Sim, call: Call): Answer {
  const input = call.query.get('input_token')
  if (!input) return requiredParameter('input_token')
  const token = authenticate(sim.state, input, null)
  if (!isToken(token)) {
    const { error } = JSON.parse(String(token.body)) as { error: JsonObject }
    const reason: JsonObject = { code: error.code, message: error.message }
    if (error.error_subcode !== undefined) reason.subcode = error.error_subcode
    return json({ data: { error: reason, is_valid: false, scopes: [] } })
  }
  const scopes = [...token.scopes]
  const targets = token.wabas === 'all' ? {} : { target_ids: [...token.wabas] }
  const granular = scopes.filter(scope => scope !== BUSINESS).map(scope => ({ scope, ...targets }))
  return json({
    data: {
      app_id: sim.state.appId,
      type: token.app ? 'APP' : 'SYSTEM_USER',
      application: 'Acme app',
      is_valid: true,
      expires_at: 0,
      data_access_expires_at: 0,
      scopes,
      granular_scopes: granular,
      user_id: token.userId
    }
  })
}

const NAMED = ['id', 'name']
const visible = (sim: Sim, call: Call) => [...sim.state.wabas.values()].filter(waba => sees(call.token, waba.id))

const listWabas = (sim: Sim, call: Call, wabas: Waba[]) =>
  page(
    sim,
    call,
    wabas.map(waba => wabaView(sim, waba)),
    NAMED
  )

/** `GET /me/businesses`: the businesses whose accounts the token sees. */
export function myBusinesses(sim: Sim, call: Call): Answer {
  const denied = lacks(call.token, BUSINESS)
  if (denied) return denied
  const ids = new Set(visible(sim, call).map(waba => waba.businessId))
  const businesses = [...ids].map(id => ({ id, name: sim.state.businesses.get(id) ?? '' }))
  return page(sim, call, businesses, NAMED)
}

/** Own and shared accounts of a business. */
export function businessCall(sim: Sim, call: Call, businessId: string): Answer {
  const denied = lacks(call.token, BUSINESS)
  if (denied) return denied
  const edge = call.path[1]
  const wabas = visible(sim, call).filter(waba => waba.businessId === businessId)
  if (call.method === 'GET' && edge === undefined) {
    return json({ id: businessId, name: sim.state.businesses.get(businessId) ?? '' })
  }
  if (call.method !== 'GET' || !/^(owned|client)_whatsapp_business_accounts$/.test(edge ?? '')) {
    return unknownObject(call.path.join('/'), call.method)
  }
  return listWabas(
    sim,
    call,
    wabas.filter(waba => waba.shared === (edge === 'client_whatsapp_business_accounts'))
  )
}

/** `GET /USER_ID/assigned_whatsapp_business_accounts` of the token's own user. */
export function userCall(sim: Sim, call: Call): Answer {
  const denied = lacks(call.token, MANAGEMENT)
  if (denied) return denied
  return call.path[1] === 'assigned_whatsapp_business_accounts'
    ? listWabas(sim, call, visible(sim, call))
    : unknownObject(call.path.join('/'), call.method)
}

/** `/APP`: resumable uploads and the app's own callback. */
export async function appCall(sim: Sim, call: Call): Promise<Answer> {
  if (call.method === 'POST' && call.path[1] === 'uploads') return openUpload(sim, call)
  if (call.method !== 'POST' || call.path[1] !== 'subscriptions') {
    return unknownObject(call.path.join('/'), call.method)
  }
  if (!call.token.app)
    return refuse(15, undefined, { status: 400, message: '(#15) This method must be called with an app access_token.' })
  const url = textOf(call.body.callback_url)
  if (!url) return badParameter('The parameter callback_url is required.')
  if (!(await sim.webhooks.handshake(url, textOf(call.body.verify_token) ?? ''))) {
    return refuse(2200, undefined, { message: '(#2200) Callback verification failed' })
  }
  sim.state.callbackUrl = url
  return success
}
