import type { IncomingMessage } from 'node:http'
import { authenticate, isToken, sees, visibleNumber, visibleWaba } from './access.ts'
import { accessToken, appCall, businessCall, debugToken, myBusinesses, userCall } from './discovery.ts'
import { unknownObject } from './errors.ts'
import { isObject, type JsonObject, parseJson } from './json.ts'
import { mediaCall } from './media.ts'
import { numberCall } from './numbers.ts'
import type { Call, Sim } from './sim.ts'
import { templateCall } from './templates.ts'
import { isUpload, uploadCall } from './uploads.ts'
import { wabaCall } from './wabas.ts'
import type { Answer } from './wire.ts'

/** Members of a JSON or form body, with the query filling what the body does not say. */
function membersOf(raw: Buffer, contentType: string, query: URLSearchParams): JsonObject {
  const fromQuery: JsonObject = Object.fromEntries(query)
  if (raw.length === 0 || contentType.startsWith('multipart/')) return fromQuery
  if (contentType.startsWith('application/x-www-form-urlencoded')) {
    return { ...fromQuery, ...Object.fromEntries(new URLSearchParams(raw.toString('utf8'))) }
  }
  const body = contentType.startsWith('application/json') ? parseJson(raw.toString('utf8')) : undefined
  return isObject(body) ? { ...fromQuery, ...body } : fromQuery
}

/** Any Graph call but a send. `path` starts after the version. */
export function graphCall(
  sim: Sim,
  request: IncomingMessage,
  target: { version: string; path: string[]; query: URLSearchParams },
  raw: Buffer
): Answer | Promise<Answer> {
  const { state } = sim
  const { version, path, query } = target
  const method = request.method ?? 'GET'
  const body = membersOf(raw, request.headers['content-type'] ?? '', query)
  if (path[0] === 'oauth' && path[1] === 'access_token') return accessToken(sim, body)
  const token = authenticate(state, request.headers.authorization, query.get('access_token'))
  if (!isToken(token)) return token
  return routeObject(sim, { method, path, version, query, headers: request.headers, raw, body, token })
}

function routeObject(sim: Sim, call: Call): Answer | Promise<Answer> {
  const { state } = sim
  const id = decodeURIComponent(call.path[0] ?? '')
  if (id === 'debug_token') return debugToken(sim, call)
  if (id === 'me' && call.path[1] === 'businesses') return myBusinesses(sim, call)
  if (id === state.appId) return appCall(sim, call)
  if (isUpload(id)) return uploadCall(sim, call)
  const number = visibleNumber(state, call.token, id)
  if (number) return numberCall(sim, call, number)
  const waba = visibleWaba(state, call.token, id)
  if (waba) return wabaCall(sim, call, waba)
  const template = state.templates.get(id)
  if (template && sees(call.token, template.wabaId)) return templateCall(sim, call, template)
  const media = state.media.get(id)
  if (media) return mediaCall(sim, call, media)
  if (state.businesses.has(id)) return businessCall(sim, call, id)
  if (id === call.token.userId && id !== '') return userCall(sim, call)
  return unknownObject(id, call.method)
}
