import { badRequest, sessionNotFound, unprocessable } from './errors.ts'
import { faulty } from './faults.ts'
import { asBoolean, asFields, asString } from './fields.ts'
import { type Answer, type Call, type Handler, json, type Routes } from './routing.ts'
import {
  accountOf,
  configureSession,
  createSession,
  deleteSession,
  logoutSession,
  restartSession,
  sessionObject,
  startSession,
  stopSession
} from './sessions.ts'
import type { Session, World } from './world.ts'

const SESSIONS_MAX = 10_000
const NAME = /^[A-Za-z0-9_-]{1,54}$/

/** A handler for one known session of the path; unknown ones answer 404. */
const onSession =
  (action: (world: World, session: Session, call: Call) => Answer): Handler =>
  (world, call) => {
    const session = world.sessions.get(call.params.session ?? '')
    return session ? action(world, session, call) : sessionNotFound()
  }

/** POST operations that answer 201 with the session afterwards. */
const operation = (action: (world: World, session: Session) => void) =>
  onSession((world, session) => {
    action(world, session)
    return json(201, sessionObject(world, session))
  })

const create: Handler = (world, { body }) => {
  const name = asString(body.name) ?? ''
  if (!NAME.test(name)) return badRequest(['name must match /^[a-zA-Z0-9_-]*$/ regular expression'])
  if (world.sessions.has(name)) return unprocessable(`Session '${name}' already exists. Use PUT to update it.`)
  if (world.sessions.size >= SESSIONS_MAX) return unprocessable('Too many sessions')
  const session = createSession(world, name, asFields(body.config))
  if (asBoolean(body.start) !== false) startSession(world, session)
  return json(201, sessionObject(world, session))
}

/** `POST /api/sessions/start`: creates or updates, then starts. */
const startOldForm: Handler = (world, { body }) => {
  const name = asString(body.name) ?? ''
  if (!NAME.test(name)) return badRequest(['name must match /^[a-zA-Z0-9_-]*$/ regular expression'])
  const session = world.sessions.get(name) ?? createSession(world, name, asFields(body.config))
  startSession(world, session)
  return json(201, sessionObject(world, session))
}

const oldForm =
  (action: (world: World, session: Session, call: Call) => void): Handler =>
  (world, call) => {
    const session = world.sessions.get(asString(call.body.name) ?? '')
    if (session) action(world, session, call)
    return json(201, {})
  }

export const sessionRoutes: Routes = {
  'POST /api/sessions': faulty('create', create),
  'GET /api/sessions': faulty('look', (world, { query }) => {
    const all = query.get('all') === 'true'
    const listed = [...world.sessions.values()].filter(session => all || session.status !== 'STOPPED')
    return json(
      200,
      listed.map(session => sessionObject(world, session))
    )
  }),
  'POST /api/sessions/start': startOldForm,
  'POST /api/sessions/stop': oldForm((world, session, { body }) => {
    stopSession(world, session)
    if (asBoolean(body.logout)) logoutSession(world, session)
  }),
  'POST /api/sessions/logout': oldForm(logoutSession),
  'GET /api/sessions/:session': faulty(
    'look',
    onSession((world, session) => json(200, sessionObject(world, session)))
  ),
  'PUT /api/sessions/:session': onSession((world, session, { body }) => {
    configureSession(world, session, asFields(body.config))
    return json(200, sessionObject(world, session))
  }),
  'DELETE /api/sessions/:session': (world, { params }) => {
    const session = world.sessions.get(params.session ?? '')
    if (session) deleteSession(world, session)
    return { kind: 'empty', status: 200 }
  },
  'POST /api/sessions/:session/start': operation(startSession),
  'POST /api/sessions/:session/stop': operation(stopSession),
  'POST /api/sessions/:session/restart': operation(restartSession),
  'POST /api/sessions/:session/logout': operation(logoutSession),
  'GET /api/sessions/:session/me': onSession((world, session) => json(200, accountOf(world, session)))
}
