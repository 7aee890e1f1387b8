import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/
const ZEROS = /^0+$/

/** Trace id and parent of a W3C `traceparent`; null when it is not valid. Later versions may append fields: those are cut. */
export function readTraceparent(header: unknown): { readonly traceId: string; readonly parentId: string } | null {
  if (typeof header !== 'string' || header.length > 512) return null
  if (header.length > 55 && (header.startsWith('00') || header[55] !== '-')) return null
  const [, traceId, parentId] = TRACEPARENT.exec(header.slice(0, 55)) ?? []
  if (traceId === undefined || parentId === undefined || ZEROS.test(traceId) || ZEROS.test(parentId)) return null
  return { traceId, parentId }
}

/**
 * Puts `X-Trace-Id` on every answer and writes one wide line per request. The line names the route's pattern, never the
 * address: addresses hold phone numbers. For the same reason the framework's own logger stays off.
 */
export function traceRequests(app: FastifyInstance, logger: Logger | false): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-trace-id', request.id)
    done()
  })
  if (!logger) return
  app.addHook('onResponse', (request, reply, done) => {
    const { url, config } = request.routeOptions
    const level = reply.statusCode >= 500 ? 'warn' : config?.quiet ? 'debug' : 'info'
    if (!logger.isLevelEnabled(level)) return done()
    const outside = readTraceparent(request.headers.traceparent)
    logger[level](
      {
        method: request.method,
        route: url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        traceId: request.id,
        ...(request.caller && { tenantId: request.caller.tenantId, keyId: request.caller.keyId }),
        ...(reply.refusal && { code: reply.refusal }),
        ...(outside && { w3cTraceId: outside.traceId, w3cParentId: outside.parentId })
      },
      'request'
    )
    done()
  })
}
