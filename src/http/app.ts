import fastify from 'fastify'
import type { Logger } from 'pino'
import { requireKey } from './access.ts'
import type { App } from './app-types.ts'
import { BODY_LIMITS, type BodyLimits, refuseEncodedBodies, takeJson, takeRaw } from './body.ts'
import { officialCallbacks } from './callbacks/official.ts'
import { unofficialCallbacks } from './callbacks/unofficial.ts'
import { channelRoutes } from './channels/routes.ts'
import { drainOnClose } from './drain.ts'
import { answerFrameworkError, clientErrorAnswer, handleFailures } from './failures.ts'
import { healthRoutes } from './health.ts'
import { describeApi } from './openapi.ts'
import type { ServiceDoors } from './ports.ts'
import { type CountRequest, limitRequests } from './request-limit.ts'
import { traceRequests } from './trace.ts'
import { compileSerializer, compileValidator } from './validation.ts'

export type AppOptions = {
  readonly doors: ServiceDoors
  readonly logger: Logger | false
  /** Milliseconds. */
  readonly now: () => number
  /** A fresh `tr_…`. */
  readonly newTraceId: () => string
  /** Where clients reach this listener. */
  readonly publicUrl: string
  readonly version: string
  /** Per API key; 0 = off. */
  readonly requestLimitPerMinute: number
  readonly countRequest: CountRequest
  /** Bytes; what is left out keeps the limits of the contract. */
  readonly bodyLimits?: Partial<BodyLimits>
}

/** What a listener needs whoever it serves: limits against slow clients, traces, the error body, strict JSON. */
export function createListener(logger: Logger | false, newTraceId: () => string, jsonLimit: number): App {
  const app = fastify({
    genReqId: newTraceId,
    // A request may take this long to arrive; keep-alive is longer than a load balancer's usual minute.
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    http: { headersTimeout: 15_000, connectionsCheckingInterval: 5_000, maxHeaderSize: 16 * 1024 },
    routerOptions: { maxParamLength: 1024 },
    // At the close idle connections end, requests in flight are finished and answered.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    bodyLimit: jsonLimit,
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: clientErrorAnswer(newTraceId)
  })
  app.decorateRequest('caller', null)
  app.decorateReply('refusal', null)
  app.setValidatorCompiler(compileValidator)
  app.setSerializerCompiler(compileSerializer)
  drainOnClose(app)
  traceRequests(app, logger)
  handleFailures(app, logger)
  refuseEncodedBodies(app)
  takeJson(app, jsonLimit)
  return app as unknown as App
}

/** The channel service's listener (Bearer keys, provider callbacks, health, documents). It is not listening yet. */
export function createApp(options: AppOptions): App {
  const { doors, version } = options
  const limits = { ...BODY_LIMITS, ...options.bodyLimits }
  const app = createListener(options.logger, options.newTraceId, limits.json)
  describeApi(app, {
    title: 'Ledgerline channel service',
    description:
      'Numbers, messages, tracking and signed webhook events. Of duplicate keys in a JSON body the last one counts; ' +
      'unknown query parameters are ignored, unknown body properties are refused.',
    version,
    publicUrl: options.publicUrl,
    security: 'bearer'
  })
  app.register(async (scope: App) => {
    requireKey(scope, doors.keys)
    limitRequests(scope, options.requestLimitPerMinute, options.countRequest)
    channelRoutes(scope, doors, limits, options.now)
  })
  app.register(async (scope: App) => {
    takeRaw(scope, limits.callback)
    officialCallbacks(scope, doors)
    unofficialCallbacks(scope, doors)
  })
  app.register(async (scope: App) => healthRoutes(scope, doors, version))
  return app
}
