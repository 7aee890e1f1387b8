/** Anchors (decisions §8.1): signed sums over all events in log order. */
import type { KeyObject } from 'node:crypto'
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { z } from 'zod'
import { NO_HASH, sha256 } from './hash-chain.ts'
import type { Position } from './port.ts'

export const ANCHOR_STREAM = 'anchors'
export const ANCHOR_TYPE = 'AnchorWritten'
export const MAX_ANCHORED_EVENTS = 10_000
/** Hexadecimal digits of an event's hash that an anchor keeps, to name the very event that was touched. */
export const PREFIX_DIGITS = 8

/** `data` of an `AnchorWritten`: it covers the events from position `from` to position `to`. */
export type Anchor = {
  readonly from: Position
  readonly to: Position
  readonly count: number
  /** SHA-256 over the rolling hash of the anchor before and each event's position and hash; lower-case hex. */
  readonly rolling: string
  /** The first four bytes of each event's hash, base64. */
  readonly prefixes: string
  /** Signature of the anchor before, '' for the first one. */
  readonly previous: string
  /** Ed25519 key in SPKI DER, base64. */
  readonly publicKey: string
  /** Ed25519 over `canonicalText`, base64. */
  readonly signature: string
}

/** What the copies elsewhere hold: the digest of the prefixes takes their place. */
export type AnchorCopy = Omit<Anchor, 'prefixes'> & { readonly prefixesHash: string }

const fields = {
  from: z.int().min(0),
  to: z.int().min(0),
  count: z.int().min(1),
  rolling: z.string(),
  previous: z.string(),
  publicKey: z.string(),
  signature: z.string()
}
const AnchorBody = z.object({ v: z.literal(1), data: z.object({ ...fields, prefixes: z.string() }) })
const CopyLine = z.object({ anchor: z.object({ ...fields, prefixesHash: z.string() }) })

export const anchorBody = (anchor: Anchor): string => JSON.stringify({ v: 1, data: anchor })

/** The anchor in an event's body, or null when it is none. */
export function parseAnchor(body: string): Anchor | null {
  return AnchorBody.safeParse(parsed(body)).data?.data ?? null
}

/** One line for stdout and ANCHOR_FILE. */
export const anchorLine = (anchor: Anchor): string => JSON.stringify({ anchor: copyOf(anchor) })

/** The anchor in such a line, or null when it is none. */
export function parseAnchorLine(line: string): AnchorCopy | null {
  return CopyLine.safeParse(parsed(line)).data?.anchor ?? null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export function copyOf({ prefixes, ...rest }: Anchor): AnchorCopy {
  return { ...rest, prefixesHash: sha256(prefixes) }
}

/** The text that is signed. */
function canonicalText(copy: Omit<AnchorCopy, 'signature'>): string {
  const { from, to, count, rolling, prefixesHash, previous, publicKey } = copy
  return ['ledgerline anchor 1', from, to, count, rolling, prefixesHash, previous, publicKey].join('\n')
}

export type AnchorSigner = { sign(anchor: Omit<Anchor, 'publicKey' | 'signature'>): Anchor }

/** `privateKey`: Ed25519, PKCS8 DER, base64. Throws when it is not one. */
export function createAnchorSigner(privateKey: string): AnchorSigner {
  const key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key that signs anchors is not an Ed25519 key')
  const publicKey = publicKeyOf(key)
  return {
    sign(anchor) {
      const unsigned = { ...anchor, publicKey }
      const { prefixes, ...rest } = unsigned
      const text = canonicalText({ ...rest, prefixesHash: sha256(prefixes) })
      return { ...unsigned, signature: sign(null, Buffer.from(text), key).toString('base64') }
    }
  }
}

const publicKeyOf = (key: KeyObject): string =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64')

/** Whether the signature belongs to the anchor and the public key in it. Whose key that is, is another question. */
export function isSigned(copy: AnchorCopy): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(copy.publicKey, 'base64'), format: 'der', type: 'spki' })
    return verify(null, Buffer.from(canonicalText(copy)), key, Buffer.from(copy.signature, 'base64'))
  } catch {
    return false
  }
}

export type HashAt = { readonly position: Position; readonly hash: string }

/** Sums up a range of events, a slice at a time. */
export type RangeSum = {
  add(events: readonly HashAt[]): void
  /** May be asked once. */
  total(): { readonly count: number; readonly rolling: string; readonly prefixes: string }
}

/** `previous` is the rolling hash before the range; the log begins with NO_HASH. */
export function createRangeSum(previous: string = NO_HASH): RangeSum {
  const hash = createHash('sha256').update(`${previous}\n`)
  let prefixes = ''
  return {
    add(events) {
      let text = ''
      for (const event of events) {
        text += `${event.position} ${event.hash}\n`
        prefixes += event.hash.slice(0, PREFIX_DIGITS)
      }
      hash.update(text)
    },
    total: () => ({
      count: prefixes.length / PREFIX_DIGITS,
      rolling: hash.digest('hex'),
      prefixes: Buffer.from(prefixes, 'hex').toString('base64')
    })
  }
}
