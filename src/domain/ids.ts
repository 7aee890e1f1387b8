/** Identifiers (decisions §2): `prefix_` and 26 characters of lower-case Crockford base32. */

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const BODY_LENGTH = 26

export type IdPrefix = 'ch' | 'msg' | 'cxn' | 'tag' | 'evt' | 'tn' | 'tr' | 'whd' | 'dlv' | 'key' | 'ct'

const BODY = `[0-9a-hjkmnp-tv-z]{${BODY_LENGTH}}`

export const idPattern = (prefix: IdPrefix): RegExp => new RegExp(`^${prefix}_${BODY}$`)

const PATTERNS = new Map<IdPrefix, RegExp>()

export function isId(prefix: IdPrefix, value: unknown): value is string {
  let pattern = PATTERNS.get(prefix)
  if (!pattern) {
    pattern = idPattern(prefix)
    PATTERNS.set(prefix, pattern)
  }
  return typeof value === 'string' && pattern.test(value)
}

/** The first 130 bits of `bytes` (at least 17 of them) as 26 characters. */
export function base32(bytes: Uint8Array): string {
  let out = ''
  let buffer = 0
  let bits = 0
  for (let index = 0; out.length < BODY_LENGTH; index++) {
    buffer = ((buffer << 8) | (bytes[index] ?? 0)) & 0xffff
    bits += 8
    while (bits >= 5 && out.length < BODY_LENGTH) {
      bits -= 5
      out += ALPHABET[(buffer >> bits) & 31]
    }
  }
  return out
}

/** 48 bits of time as the ten leading characters of a ULID. */
function timeCharacters(milliseconds: number): string {
  let out = ''
  for (let shift = 45; shift >= 0; shift -= 5) out += ALPHABET[Math.floor(milliseconds / 2 ** shift) % 32]
  return out
}

/** Time-ordered id: the milliseconds lead, 80 bits of `entropy` (10 bytes) follow. */
export function timeOrderedId(prefix: IdPrefix, milliseconds: number, entropy: Uint8Array): string {
  return `${prefix}_${timeCharacters(milliseconds)}${base32(entropy).slice(0, 16)}`
}

/** Id without a time: for messages and deliveries, whose ids are derived from what they stand for. */
export function derivedId(prefix: IdPrefix, digest: Uint8Array): string {
  return `${prefix}_${base32(digest)}`
}

/** The leading time characters of a time-ordered id; derived ids of the same moment reuse them. */
export function timePart(id: string): string {
  return id.slice(id.indexOf('_') + 1).slice(0, 10)
}
