import { createHmac, timingSafeEqual } from 'node:crypto'

/** Anti-replay tolerance of the spec: five minutes to either side of the receiver's clock. */
export const SIGNATURE_TOLERANCE_SECONDS = 300

/** Longer headers are refused unread: ours stay below 200 characters even with two signatures. */
const MAX_HEADER_LENGTH = 2048

export type SignatureVerdict = { ok: true } | { ok: false; reason: 'missing_signature' | 'invalid_signature' }

const digest = (secret: string, timestamp: string, rawBody: Buffer | string): Buffer =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest()

/**
 * The value of `X-Service-Signature`: `t=<unix seconds>,v1=<hex>`, one `v1` per secret in the given order (newest
 * first, so that a receiver accepts either secret during a rotation). Throws on an empty list: nothing leaves
 * unsigned.
 */
export const signatureHeader = (body: Buffer | string, secrets: readonly string[], unixSeconds: number): string => {
  if (secrets.length === 0) throw new Error('a delivery needs at least one secret to be signed with')
  const timestamp = String(Math.floor(unixSeconds))
  return `t=${timestamp}${secrets.map(secret => `,v1=${digest(secret, timestamp, body).toString('hex')}`).join('')}`
}

/** Splits `t=…,v1=…[,v1=…]`; null when it is anything else. Unknown keys are skipped, so that a `v2` can come later. */
const parseHeader = (header: string): { timestamp: string; signatures: string[] } | null => {
  if (header.length > MAX_HEADER_LENGTH) return null
  let timestamp: string | null = null
  const signatures: string[] = []
  for (const part of header.split(',')) {
    const [key, value = ''] = part.trim().split('=', 2)
    if (key === 't') {
      if (timestamp !== null || !/^\d{1,12}$/.test(value)) return null
      timestamp = value
    }
    if (key === 'v1' && /^[0-9a-f]{64}$/.test(value)) signatures.push(value)
  }
  return timestamp === null || signatures.length === 0 ? null : { timestamp, signatures }
}

/**
 * Checks a delivery against one secret. `rawBody` is the body exactly as received. The comparison takes the same time
 * wherever a signature differs, and every `v1` of the header is tried.
 */
export const verifySignature = (
  header: string | undefined,
  rawBody: Buffer | string,
  secret: string,
  nowSeconds: number,
  toleranceSeconds = SIGNATURE_TOLERANCE_SECONDS
): SignatureVerdict => {
  if (header === undefined || header.trim() === '') return { ok: false, reason: 'missing_signature' }
  const parsed = parseHeader(header)
  if (parsed === null) return { ok: false, reason: 'invalid_signature' }
  const expected = digest(secret, parsed.timestamp, rawBody)
  let matches = false
  for (const signature of parsed.signatures) {
    if (timingSafeEqual(Buffer.from(signature, 'hex'), expected)) matches = true
  }
  const isFresh = Math.abs(nowSeconds - Number(parsed.timestamp)) <= toleranceSeconds
  return matches && isFresh ? { ok: true } : { ok: false, reason: 'invalid_signature' }
}
