import { createHmac, timingSafeEqual } from 'node:crypto'

const PREFIX = 'sha256='
const HEX_DIGITS = 64

/**
 * Whether `X-Hub-Signature-256` is the HMAC-SHA256 of the raw body under the app's secret (`provider-official`, 6.2).
 * Takes the bytes as they came, because the platform escapes characters in the body that it signs.
 */
export function verifyHubSignature(secret: string, rawBody: Buffer, header: string | undefined): boolean {
  if (secret === '' || header === undefined || !header.startsWith(PREFIX)) return false
  const hex = header.slice(PREFIX.length)
  if (hex.length !== HEX_DIGITS || !/^[0-9a-f]+$/i.test(hex)) return false
  return timingSafeEqual(createHmac('sha256', secret).update(rawBody).digest(), Buffer.from(hex, 'hex'))
}
