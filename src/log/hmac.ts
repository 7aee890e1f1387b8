import { createHmac, hash } from 'node:crypto'

const BLOCK_BYTES = 64
const HASH_BYTES = 32
const TEXT_BYTES_MAX = 1024
/** A UTF-16 code unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3

const inner = Buffer.alloc(BLOCK_BYTES + TEXT_BYTES_MAX)
const outer = Buffer.alloc(BLOCK_BYTES + HASH_BYTES)
const pads = new WeakMap<Buffer, { readonly inner: Buffer; readonly outer: Buffer }>()

/**
 * HMAC-SHA-256 under a key of at most 64 bytes. Ids and blind indexes are made of it, several for each message, and
 * `createHmac` takes three times as long, because it makes a stream. So short texts go through the two plain hashes that
 * RFC 2104 defines it by.
 */
export function hmac(key: Buffer, text: string): Buffer {
  if (text.length * MAX_BYTES_PER_UNIT > TEXT_BYTES_MAX || key.length > BLOCK_BYTES)
    return createHmac('sha256', key).update(text).digest()
  const padded = padsOf(key)
  inner.set(padded.inner)
  const length = inner.write(text, BLOCK_BYTES)
  outer.set(padded.outer)
  outer.write(hash('sha256', inner.subarray(0, BLOCK_BYTES + length), 'binary'), BLOCK_BYTES, 'latin1')
  return Buffer.from(hash('sha256', outer, 'binary'), 'latin1')
}

function padsOf(key: Buffer): { readonly inner: Buffer; readonly outer: Buffer } {
  const known = pads.get(key)
  if (known) return known
  const made = { inner: padOf(key, 0x36), outer: padOf(key, 0x5c) }
  pads.set(key, made)
  return made
}

function padOf(key: Buffer, filler: number): Buffer {
  const pad = Buffer.alloc(BLOCK_BYTES, filler)
  for (const [index, byte] of key.entries()) pad[index] = byte ^ filler
  return pad
}
