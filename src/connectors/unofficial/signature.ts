import { createHmac, timingSafeEqual } from 'node:crypto'

const HEX_DIGITS = 128

/**
 * Whether `X-Webhook-Hmac` is the HMAC-SHA512 of the raw body under the session's callback key
 * (`provider-unofficial`, 6.1). `algorithm` is `X-Webhook-Hmac-Algorithm`; absent, it is taken for `sha512`.
 */
export function verifyUnofficialSignature(
  key: string,
  rawBody: Buffer,
  header: string | undefined,
  algorithm: string | undefined
): boolean {
  if (key === '' || header === undefined) return false
  if (algorithm !== undefined && algorithm.toLowerCase() !== 'sha512') return false
  if (header.length !== HEX_DIGITS || !/^[0-9a-f]+$/i.test(header)) return false
  return timingSafeEqual(createHmac('sha512', key).update(rawBody).digest(), Buffer.from(header, 'hex'))
}
