import { z } from 'zod'
import type { App } from './app-types.ts'
import { ERRORS } from './errors.ts'
import type { ServiceDoors } from './ports.ts'

/** `/healthz`: the process lives. `/readyz`: it can serve, and what it runs on; 503 with the reason while it cannot. */
export function healthRoutes(app: App, { health }: ServiceDoors, version: string): void {
  const alive = {
    tags: ['Operations'],
    summary: 'The process lives',
    security: [],
    response: { 200: z.object({ status: z.literal('ok'), version: z.string() }).describe('It lives.') }
  }
  app.get('/healthz', { schema: alive, config: { quiet: true } }, async () => ({ status: 'ok', version }))

  const ready = {
    tags: ['Operations'],
    summary: 'The service can take requests',
    description: 'Facts of the node stand beside `status`, such as `sandbox`.',
    security: [],
    response: {
      200: z.looseObject({ status: z.literal('ready') }).describe('Ready.'),
      503: z
        .looseObject({
          status: z.literal('not_ready'),
          error: z.object({ code: z.literal('not_ready'), message: z.string(), traceId: z.string() })
        })
        .describe('Not ready, and why.')
    }
  }
  app.get('/readyz', { schema: ready, config: { quiet: true } }, async (request, reply) => {
    const reason = health.notReady()
    if (reason === null) return { ...health.facts(), status: 'ready' }
    reply.refusal = 'not_ready'
    const error = { code: 'not_ready', message: reason, traceId: request.id }
    return reply.code(ERRORS.not_ready[0]).send({ ...health.facts(), status: 'not_ready', error })
  })
}
