import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault
} from 'fastify'
import type { output, ZodType } from 'zod'
import type { ErrorCode } from './errors.ts'
import type { Caller } from './ports.ts'

/**
 * Requests are typed by their schemas; answers are not, because the ports' types already say what they are.
 * An interface, for only those can speak of `this`.
 */
interface ZodTypes extends FastifyTypeProvider {
  validator: this['schema'] extends ZodType ? output<this['schema']> : unknown
  serializer: unknown
}

/** The scope that a route is put into. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypes
>

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
  }
  interface FastifyReply {
    /** Code of the error that the answer carries, for the log line. */
    refusal: ErrorCode | null
  }
  interface FastifyContextConfig {
    /** Asked every few seconds by machines: logged at debug level. */
    quiet?: boolean
  }
}
