import type { Socket } from 'node:net'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { refuse } from './answer.ts'
import { type ErrorCode, errorBody, RequestRefused, statusOf } from './errors.ts'

/** What the framework itself refuses, in our words. */
const FRAMEWORK_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_request',
  FST_ERR_BAD_URL: 'route_not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'route_not_found'
}

/** Refused bodies up to this size are read to their end and dropped, so that the sender sees the answer. */
const DRAIN_BYTES_MAX = 8 * 1024 * 1024

/** Every way to fail ends in the error body; what nobody foresaw is a 500 that is logged once and says nothing. */
export function handleFailures(app: FastifyInstance, logger: Logger | false): void {
  app.setNotFoundHandler((_request, reply) => refuse(reply, 'route_not_found'))
  app.setErrorHandler((error: FastifyError, request, reply) => {
    keepConnection(request, reply)
    if (error instanceof RequestRefused) return refuse(reply, error.code, error.details)
    const code = codeOf(error)
    if (code === 'internal_error' && logger) logger.error({ traceId: request.id, ...describe(error) }, 'request failed')
    return refuse(reply, code)
  })
}

/** For addresses that the router cannot read: no hook has run, and there is no route to name. */
export function answerFrameworkError(error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-trace-id', reply.request.id)
  refuse(reply, codeOf(error))
}

/** For what is no HTTP request at all, or did not arrive in time. The socket is closed after the answer. */
export const clientErrorAnswer = (newTraceId: () => string) => (error: NodeJS.ErrnoException, socket: Socket) => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (!socket.writable) return void socket.destroy()
  const code = clientErrorCode(error.code)
  const traceId = newTraceId()
  const body = JSON.stringify(errorBody(code, traceId))
  const head = [
    `HTTP/1.1 ${statusOf(code)} ${code}`,
    'connection: close',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-trace-id: ${traceId}`
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

function clientErrorCode(code: string | undefined): ErrorCode {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout'
  return code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'bad_request'
}

function codeOf(error: FastifyError): ErrorCode {
  // The log says so by name when it takes no writes; the http room does not know its class.
  if (error.name === 'LogUnavailable' || error.code === 'overloaded') return 'overloaded'
  const known = error.code === undefined ? undefined : FRAMEWORK_CODES[error.code]
  if (known) return known
  const isOfClient = error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
  return isOfClient ? 'bad_request' : 'internal_error'
}

/** The framework closes the connection after every refused body; that is only needed when the rest is not worth reading. */
function keepConnection(request: FastifyRequest, reply: FastifyReply): void {
  const declared = Number(request.headers['content-length'] ?? Number.NaN)
  if (reply.getHeader('connection') !== 'close' || request.headers.connection === 'close') return
  if (request.raw.complete || declared <= DRAIN_BYTES_MAX) reply.header('connection', 'keep-alive')
}

/** Long runs of digits may be phone numbers: they are masked, and the message is cut. */
function describe(error: FastifyError): Readonly<Record<string, unknown>> {
  const message = String(error.message)
    .slice(0, 200)
    .replace(/\d{5,}/g, '*')
  const frames = (error.stack ?? '').split('\n').filter(line => /^\s+at /.test(line))
  return { error: error.name, errorCode: error.code, message, stack: frames.slice(0, 12).join('\n') }
}
