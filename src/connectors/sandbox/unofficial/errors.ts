import { type Answer, type Call, json } from './routing.ts'
import type { Status, World } from './world.ts'

/** The error bodies of a NestJS server, as section 1 of the fact sheet lists them. */

export const badRequest = (message: string[] | string): Answer =>
  json(400, { statusCode: 400, message, error: 'Bad Request' })

export const unauthorized = (): Answer => json(401, { message: 'Unauthorized', statusCode: 401 })

export const forbidden = (): Answer => json(403, { message: 'Forbidden resource', error: 'Forbidden', statusCode: 403 })

export const notFound = (message: string): Answer => json(404, { message, error: 'Not Found', statusCode: 404 })

export const sessionNotFound = (): Answer => notFound('Session not found')

export const sessionNotRunning = (name: string): Answer =>
  notFound(
    `We didn't find a session with name '${name}'.\n` +
      `Please start it first by using POST /api/sessions/${name}/start request`
  )

export const fileGone = (): Answer =>
  json(404, { error: { code: 404, key: 'FILE_NOT_FOUND', message: 'File not found', details: null } })

export const unprocessable = (message: string): Answer =>
  json(422, { message, error: 'Unprocessable Entity', statusCode: 422 })

export const notImplemented = (): Answer =>
  unprocessable('The method is not implemented by the engine. Choose another engine for this operation.')

export const wrongStatus = (session: string, status: Status, expected: Status[]): Answer =>
  json(422, {
    error: 'Session status is not as expected. Try again later or restart the session',
    session,
    status,
    expected
  })

/** Anything uncaught: echoes the request, message content included, just as the real one does. */
export const crashed = (world: World, call: Call, message: string): Answer =>
  json(500, {
    statusCode: 500,
    timestamp: new Date(world.now()).toISOString(),
    exception: { name: 'Error', message, stack: `Error: ${message}\n    at engine` },
    request: { path: call.path, method: call.method, body: call.body, query: Object.fromEntries(call.query) },
    version: { version: world.version, engine: world.engine, tier: 'CORE', browser: null, platform: 'linux/x64' }
  })

/** A refusal with a chosen status, in the shape that status has elsewhere. */
export function refused(world: World, call: Call, status: number, message: string): Answer {
  if (status === 400) return badRequest([message])
  if (status === 401) return unauthorized()
  if (status === 403) return forbidden()
  if (status === 404) return notFound(message)
  if (status === 422) return unprocessable(message)
  if (status === 500) return crashed(world, call, message)
  return json(status, { statusCode: status, message })
}
