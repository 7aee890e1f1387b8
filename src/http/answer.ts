import type { FastifyReply } from 'fastify'
import { type Detail, type ErrorCode, errorBody, isErrorCode, statusOf } from './errors.ts'
import type { Result } from './ports.ts'

const OVERLOADED_RETRY_SECONDS = 1

/** Ends the request with the error body of decisions §2. */
export function refuse(reply: FastifyReply, code: ErrorCode, details?: readonly Detail[]): FastifyReply {
  reply.refusal = code
  if (code === 'unauthorized') reply.header('www-authenticate', 'Bearer')
  if (code === 'overloaded') reply.header('retry-after', OVERLOADED_RETRY_SECONDS)
  return reply.code(statusOf(code)).send(errorBody(code, reply.request.id, details))
}

/** Answers what a door said: its value as `present` shows it, or its refusal. A code outside the table is a defect. */
export function answer<T>(
  reply: FastifyReply,
  result: Result<T>,
  status: number,
  present: (value: T) => unknown
): FastifyReply {
  if (result.ok) return reply.code(status).send(present(result.value))
  if (!isErrorCode(result.code)) throw new Error(`unknown refusal code ${result.code}`)
  return refuse(reply, result.code, result.details)
}

/** For operations that answer 204. */
export function answerEmpty(reply: FastifyReply, result: Result<null>): FastifyReply {
  return answer(reply, result, 204, () => undefined)
}
