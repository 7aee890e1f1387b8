import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { RequestRefused } from './errors.ts'
import { findFlaws } from './flaws.ts'
import { detail } from './validation.ts'

export type BodyLimits = {
  /** Bytes of a JSON body on `/v1/*`. */
  readonly json: number
  /** Bytes of a batch send. */
  readonly batch: number
  /** Bytes of a provider's callback. */
  readonly callback: number
}
export const BODY_LIMITS: BodyLimits = { json: 64 * 1024, batch: 512 * 1024, callback: 4 * 1024 * 1024 }

/**
 * Makes the scope take JSON bodies only: strict UTF-8 (400), well-formed (400), no content encoding (415), no text that
 * a store or a receiver could trip over (422). Of duplicate keys the last one counts. An empty body is no body: routes
 * that need one answer 400, the others do not care.
 */
export function takeJson(app: FastifyInstance, bodyLimit: number): void {
  takeParsed(app, bodyLimit, body => {
    const text = textOf(body)
    const value = parseText(text)
    // Both NUL and lone surrogates can only come in as escapes, so most bodies need no second look.
    const flaws = text.includes('\\u') || text.includes('__proto__') ? findFlaws(value) : []
    if (flaws.length === 0) return value
    throw new RequestRefused(
      'validation_failed',
      flaws.map(flaw => detail(flaw.path, flaw.message))
    )
  })
}

/** The same, except that the bytes go on as they came: `parseJson` is left to whoever works on them elsewhere. */
export function takeJsonBytes(app: FastifyInstance, bodyLimit: number): void {
  takeParsed(app, bodyLimit, body => body)
}

function takeParsed(app: FastifyInstance, bodyLimit: number, parse: (body: Buffer) => unknown): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => {
    try {
      done(null, body.length === 0 ? undefined : parse(body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
}

/** Makes the scope hand bodies of every media type on as they came: signatures cover bytes, not values. */
export function takeRaw(app: FastifyInstance, bodyLimit: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => done(null, body))
}

/** Nothing is ever inflated, so a small body stays small. */
export function refuseEncodedBodies(app: FastifyInstance): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const encoding = request.headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') done(new RequestRefused('unsupported_media_type'))
    else done(null, payload)
  })
}

/** The value of a body, whose text is not searched. Throws RequestRefused when it has none, or is not JSON in UTF-8. */
export const parseJson = (body: Buffer): unknown => parseText(textOf(body))

function textOf(body: Buffer): string {
  if (!isUtf8(body)) throw new RequestRefused('malformed_json')
  return body.toString('utf8')
}

function parseText(text: string): unknown {
  const value = parsed(text)
  if (value === null) throw new RequestRefused('validation_failed', [{ path: '', message: 'must be an object' }])
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RequestRefused('malformed_json')
  }
}
