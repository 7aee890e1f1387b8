import type { FastifyReply } from 'fastify'
import { refuse } from '../answer.ts'
import type { ErrorCode } from '../errors.ts'

const CODES: Readonly<Record<400 | 403 | 404 | 503, ErrorCode>> = {
  400: 'malformed_json',
  403: 'invalid_signature',
  404: 'channel_not_found',
  503: 'overloaded'
}

/** A platform only looks at the status; people who debug one read the body. */
export function answerCallback(reply: FastifyReply, status: 200 | 400 | 403 | 404 | 503): FastifyReply {
  return status === 200 ? reply.code(200).send({}) : refuse(reply, CODES[status])
}

/** The bytes that the signature covers; a request without a body has none. */
export const bytesOf = (body: unknown): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))

/** A header that came once. */
export const only = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined
