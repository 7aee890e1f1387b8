/** Identifiers (decisions §2): `prefix_` and 26 characters of lower-case Crockford base32. */

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const BODY_LENGTH = 26
const TIME_LENGTH = 10

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

/** Written to and read at once: a string put together from 26 pieces is a tree that memory keeps whole. */
const characters = Buffer.alloc(BODY_LENGTH)
const CODES = Buffer.from(ALPHABET, 'latin1')

/** The first `length` times five bits of `bytes` as so many characters. */
function base32(bytes: Uint8Array, length: number): string {
  let buffer = 0
  let bits = 0
  let index = 0
  for (let at = 0; at < length; at++) {
    if (bits < 5) {
      buffer = ((buffer << 8) | (bytes[index++] ?? 0)) & 0xffff
      bits += 8
    }
    bits -= 5
    characters[at] = CODES[(buffer >> bits) & 31] ?? 0
  }
  return characters.toString('latin1', 0, length)
}

let lastMilliseconds = -1
let lastCharacters = ''

/** 48 bits of time as the ten leading characters of a ULID. Many ids are of one millisecond. */
function timeCharacters(milliseconds: number): string {
  if (milliseconds === lastMilliseconds) return lastCharacters
  for (let at = 0; at < TIME_LENGTH; at++)
    characters[at] = CODES[Math.floor(milliseconds / 2 ** (45 - 5 * at)) % 32] ?? 0
  lastMilliseconds = milliseconds
  lastCharacters = characters.toString('latin1', 0, TIME_LENGTH)
  return lastCharacters
}

/** Time-ordered id: the milliseconds lead, 80 bits of `entropy` (10 bytes) follow. */
export function timeOrderedId(prefix: IdPrefix, milliseconds: number, entropy: Uint8Array): string {
  return `${prefix}_${timeCharacters(milliseconds)}${base32(entropy, BODY_LENGTH - TIME_LENGTH)}`
}

/** Id without a time, of the first 130 bits (17 bytes): for messages and deliveries, whose ids stand for something. */
export function derivedId(prefix: IdPrefix, digest: Uint8Array): string {
  return `${prefix}_${base32(digest, BODY_LENGTH)}`
}

/** The leading time characters of a time-ordered id; derived ids of the same moment reuse them. */
export function timePart(id: string): string {
  return id.slice(id.indexOf('_') + 1).slice(0, 10)
}
