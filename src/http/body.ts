import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { type Detail, RequestRefused } from './errors.ts'
import { formatPath } from './paths.ts'

export type BodyLimits = {
  /** Bytes of a JSON body on `/v1/*`. */
  readonly json: number
  /** Bytes of a batch send. */
  readonly batch: number
  /** Bytes of a provider's callback. */
  readonly callback: number
}
export const BODY_LIMITS: BodyLimits = { json: 64 * 1024, batch: 512 * 1024, callback: 4 * 1024 * 1024 }

const DETAILS_MAX = 20

/**
 * Makes the scope take JSON bodies only: strict UTF-8 (400), well-formed (400), no content encoding (415), no text that
 * a store or a receiver could trip over (422). Of duplicate keys the last one counts. An empty body is no body: routes
 * that need one answer 400, the others do not care.
 */
export function takeJson(app: FastifyInstance, bodyLimit: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => {
    try {
      done(null, parseJson(body as Buffer))
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

function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw new RequestRefused('malformed_json')
  const text = body.toString('utf8')
  const value = parseText(text)
  if (value === null) throw new RequestRefused('validation_failed', [{ path: '', message: 'must be an object' }])
  // Both NUL and lone surrogates can only come in as escapes, so most bodies need no second look.
  if (text.includes('\\u') || text.includes('__proto__')) {
    const flaws = findFlaws(value)
    if (flaws.length > 0) throw new RequestRefused('validation_failed', flaws)
  }
  return value
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RequestRefused('malformed_json')
  }
}

type Place = { readonly value: unknown; readonly key: string | number; readonly parent: Place | null }

/** Walks with a stack of its own: nesting is as deep as the sender likes. */
function findFlaws(root: unknown): readonly Detail[] {
  const flaws: Detail[] = []
  const places: Place[] = [{ value: root, key: '', parent: null }]
  for (let place = places.pop(); place && flaws.length < DETAILS_MAX; place = places.pop()) {
    const { value } = place
    if (typeof value === 'string' && isFlawed(value)) {
      flaws.push({ path: pathTo(place), message: 'must not hold NUL or lone surrogates' })
    }
    if (typeof value !== 'object' || value === null) continue
    for (const [key, child] of Object.entries(value)) {
      const inner = { value: child, key: Array.isArray(value) ? Number(key) : key, parent: place }
      if (key === '__proto__') flaws.push({ path: pathTo(inner), message: 'is not an allowed key' })
      else if (isFlawed(key)) flaws.push({ path: pathTo(place), message: 'has a key with NUL or lone surrogates' })
      else places.push(inner)
    }
  }
  return flaws
}

const LONE_SURROGATE = /\p{Surrogate}/u
const isFlawed = (text: string): boolean => text.includes('\0') || LONE_SURROGATE.test(text)

function pathTo(place: Place): string {
  const path: (string | number)[] = []
  for (let at: Place | null = place; at?.parent; at = at.parent) path.unshift(at.key)
  return formatPath(path)
}
