import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Permission } from '../domain/tenant.ts'
import { RequestRefused } from './errors.ts'
import type { Caller, Keys, Principal } from './ports.ts'

/** Exactly what a key looks like: anything else is not worth a question. */
const API_KEY = /^Bearer +(llk_[A-Za-z0-9_-]{43}) *$/i

/**
 * Every request of the scope needs a valid key. It is asked for before the body is read, so that strangers cannot make
 * the service parse anything.
 */
export function requireKey(app: FastifyInstance, keys: Keys): void {
  app.addHook('onRequest', (request, reply, done) => {
    // Answers hold secrets that are shown once, and QR payloads.
    reply.header('cache-control', 'no-store')
    const key = API_KEY.exec(request.headers.authorization ?? '')?.[1]
    const principal = key === undefined ? null : keys.authenticate(key)
    if (principal instanceof Promise) principal.then(found => done(admit(request, found)), done)
    else done(admit(request, principal))
  })
}

function admit(request: FastifyRequest, principal: Principal | null): RequestRefused | undefined {
  if (principal === null) return new RequestRefused('unauthorized')
  const { tenantId, keyId, permissions } = principal
  request.caller = { tenantId, keyId, permissions, trace: request.id }
  return undefined
}

/** A route's own hook, after the key and before the body. */
export const may =
  (permission: Permission): onRequestHookHandler =>
  (request, _reply, done) => {
    if (callerOf(request).permissions.includes(permission)) done()
    else done(new RequestRefused('forbidden'))
  }

export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('a route behind the key hook was reached without a caller')
  return request.caller
}
