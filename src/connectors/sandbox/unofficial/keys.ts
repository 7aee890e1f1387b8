import { forbidden, notFound, unauthorized, unprocessable } from './errors.ts'
import { asArray, asBoolean, asString, isFields } from './fields.ts'
import { ulid } from './ids.ts'
import { type Answer, type Call, json, type Routes } from './routing.ts'

const KEYS_MAX = 1000
const ACTIONS = ['read', 'send', 'control', 'setting', 'app', 'delete']

export type Key = {
  id: string
  key: string
  isActive: boolean
  isAdmin: boolean
  session: string | null
  /** Granted actions; null grants all; `files` marks a download-only key. */
  actions: Record<string, boolean> | null
}
export type Keys = {
  root: string
  scoped: Map<string, Key>
}

export const createKeys = (root: string): Keys => ({ root, scoped: new Map() })

/** Null when the key of the call may do it; else the refusal: 401 for unknown keys, 403 for lacking rights. */
export function authorise(keys: Keys, call: Call): Answer | null {
  const given = call.headers['x-api-key'] || call.query.get('x-api-key')
  if (given === keys.root) return null
  const key = typeof given === 'string' ? keys.scoped.get(given) : undefined
  if (!key?.isActive) return unauthorized()
  if (key.isAdmin) return null
  if (key.session !== null && sessionOf(call) !== key.session) return forbidden()
  if (key.actions !== null && key.actions[actionOf(call)] !== true) return forbidden()
  return null
}

/** The session a call is about: in its path, its query or its body. Null for calls about the server. */
function sessionOf({ path, query, body }: Call): string | null {
  const [, , first = '', second] = path.split('/')
  if (first === 'sessions' || first === 'files') return second ?? asString(body.name) ?? null
  return query.get('session') ?? asString(body.session) ?? first
}

function actionOf({ method, path }: Call): string {
  if (path.startsWith('/api/files/')) return 'files'
  if (method === 'DELETE') return 'delete'
  if (method === 'GET') return 'read'
  if (/\/(start|stop|restart|logout|request-code)$/.test(path)) return 'control'
  if (path.startsWith('/api/sessions') || path.includes('/profile/') || path.startsWith('/api/keys')) return 'setting'
  return 'send'
}

function actionsOf(value: unknown): Record<string, boolean> | null {
  if (Array.isArray(value)) return Object.fromEntries(asArray(value).map(action => [String(action), true]))
  if (isFields(value)) return Object.fromEntries(Object.entries(value).map(([action, on]) => [action, on === true]))
  return null
}

export const keyRoutes: Routes = {
  'POST /api/keys': (world, { body }) => {
    if (world.keys.scoped.size >= KEYS_MAX) return unprocessable('Too many keys')
    const id = ulid(world.now())
    const key: Key = {
      id: `key_id_${id}`,
      key: `key_${ulid(world.now())}`,
      isActive: asBoolean(body.isActive) ?? true,
      isAdmin: asBoolean(body.isAdmin) ?? false,
      session: asString(body.session) ?? null,
      actions: actionsOf(body.actions)
    }
    world.keys.scoped.set(key.key, key)
    return json(201, key)
  },
  'POST /api/keys/media': (world, { body }) => {
    const session = asString(body.session) ?? ''
    if (!world.sessions.has(session)) return unprocessable(`Session '${session}' does not exist`)
    const known = [...world.keys.scoped.values()].find(key => key.session === session && key.actions?.files === true)
    if (known) return json(201, known)
    const none = Object.fromEntries(ACTIONS.map(action => [action, false]))
    const key: Key = {
      id: `key_id_${ulid(world.now())}`,
      key: `key_${ulid(world.now())}`,
      isActive: true,
      isAdmin: false,
      session,
      actions: { ...none, files: true }
    }
    world.keys.scoped.set(key.key, key)
    return json(201, key)
  },
  'GET /api/keys': world => json(200, [...world.keys.scoped.values()]),
  'DELETE /api/keys/:id': (world, { params }) => {
    const key = [...world.keys.scoped.values()].find(candidate => candidate.id === params.id)
    if (!key) return notFound('Key not found')
    world.keys.scoped.delete(key.key)
    return json(200, { result: true })
  }
}
