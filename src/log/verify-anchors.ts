import type { Anchor, AnchorCopy, HashAt } from './anchors.ts'
import {
  ANCHOR_STREAM,
  ANCHOR_TYPE,
  copyOf,
  createRangeSum,
  isSigned,
  MAX_ANCHORED_EVENTS,
  PREFIX_DIGITS,
  parseAnchor
} from './anchors.ts'
import { NO_HASH } from './hash-chain.ts'
import type { Position } from './port.ts'
import { placeOf } from './verify-chains.ts'
import type { FaultKind, Faults, VerifyReport } from './verify-report.ts'
import type { FoundEvent } from './verify-source.ts'

export type AnchorCheckOptions = {
  readonly faults: Faults
  /** Keys that may sign, SPKI DER in base64. Without them the first anchor's key is believed. */
  readonly publicKeys?: readonly string[] | undefined
  /** Anchors that were kept elsewhere. */
  readonly copies: readonly AnchorCopy[]
}

/** Checks signatures, and that the events in log order are those that were signed. */
export type AnchorCheck = {
  event(event: FoundEvent): void
  end(): Pick<VerifyReport, 'anchoredTo' | 'unanchored' | 'publicKeys'>
}

/** Events that wait for the anchor that covers them, about 200 bytes each: a hundred times what an anchor holds. */
const MAX_PENDING = 100 * MAX_ANCHORED_EVENTS

type Last = Pick<Anchor, 'to' | 'signature'> & {
  /** Null when it cannot be known: then only the prefixes of the next range are compared. */
  readonly rolling: string | null
}
type Pending = HashAt & { readonly isAnchor: boolean }

export function createAnchorCheck({ faults, publicKeys, copies }: AnchorCheckOptions): AnchorCheck {
  const trust = createTrust(publicKeys, copies)
  const inLog = new Set<string>()
  let last: Last = { to: 0, signature: '', rolling: NO_HASH }
  /** Events that no anchor has covered yet. */
  let pending: Pending[] = []
  let droppedTo: Position = 0

  function event(event: FoundEvent): void {
    const isAnchor = event.content?.stream === ANCHOR_STREAM && event.content.type === ANCHOR_TYPE
    if (pending.length >= MAX_PENDING) {
      droppedTo = pending.at(-1)?.position ?? droppedTo
      pending = []
    }
    pending.push({ position: event.position, hash: event.hash, isAnchor })
    if (isAnchor) anchor(event, parseAnchor(String(event.content?.body)))
  }

  function anchor(event: FoundEvent, anchor: Anchor | null): void {
    const complain = (message: string) => faults.add('anchor_signature', placeOf(event), message)
    if (!anchor) {
      complain('it is not an anchor')
      return
    }
    inLog.add(anchor.signature)
    const signed = isSigned(copyOf(anchor))
    if (!signed) complain('the signature of the anchor is wrong')
    else if (!trust.accepts(anchor.publicKey)) complain('the anchor is signed with a key that was not named')
    const follows = anchor.from === last.to + 1 && anchor.previous === last.signature
    if (signed && !follows) complain('it does not follow the anchor before: one is missing or was replaced')

    const range = pending.filter(({ position }) => position >= anchor.from && position <= anchor.to)
    pending = pending.filter(({ position }) => position > anchor.to)
    if (signed && anchor.from <= droppedTo) complain('it comes too late to be compared with its events')
    else if (signed) compare(anchor, range, follows ? last.rolling : null)
    last = { to: anchor.to, signature: anchor.signature, rolling: signed ? anchor.rolling : null }
  }

  function compare(anchor: Anchor, range: readonly Pending[], rolling: string | null): void {
    const sum = createRangeSum(rolling ?? NO_HASH)
    sum.add(range)
    const { rolling: found, prefixes } = sum.total()
    if (prefixes === anchor.prefixes && (rolling === null || found === anchor.rolling)) return
    const { kind, position, message } = locate(anchor, range)
    faults.replace(kind, { position }, message)
  }

  function end() {
    for (const copy of copies)
      if (!inLog.has(copy.signature) && isSigned(copy) && trust.accepts(copy.publicKey))
        faults.add(
          'missing',
          { position: copy.from },
          `the log lacks the anchor of ${copy.from} to ${copy.to} that was kept elsewhere`
        )
    const open = pending.filter(({ isAnchor }) => !isAnchor)
    const from = open[0]?.position
    const to = open.at(-1)?.position
    return {
      anchoredTo: last.to,
      unanchored: from === undefined || to === undefined ? null : { from, to, count: open.length },
      publicKeys: trust.keys()
    }
  }

  return { event, end }
}

export function createTrust(publicKeys: readonly string[] | undefined, copies: readonly AnchorCopy[]) {
  const named = publicKeys ?? (copies.length > 0 ? copies.map(({ publicKey }) => publicKey) : null)
  const seen = new Set<string>()
  return {
    accepts(key: string): boolean {
      const believed = named ? named.includes(key) : seen.size === 0 || seen.has(key)
      seen.add(key)
      return believed
    },
    keys: () => [...seen]
  }
}

/** Whether every position of the range was used: then the place of each event in it is known. */
export const hasNoGaps = ({ from, to, count }: Anchor): boolean => count === to - from + 1

/** The prefix of each event's hash that an anchor has signed. */
export function prefixesOf({ prefixes }: Anchor): string[] {
  return (
    Buffer.from(prefixes, 'base64')
      .toString('hex')
      .match(new RegExp(`.{${PREFIX_DIGITS}}`, 'g')) ?? []
  )
}

type Located = { readonly kind: FaultKind; readonly position: Position; readonly message: string }

/** The first event that is not the one that was signed. */
function locate(anchor: Anchor, range: readonly HashAt[]): Located {
  const signed = prefixesOf(anchor)
  const found = range.map(({ hash }) => hash.slice(0, PREFIX_DIGITS))
  const length = Math.max(signed.length, found.length)
  let index = 0
  while (index < length && signed[index] === found[index]) index++
  const position = range[index]?.position ?? (range.at(-1)?.position ?? anchor.from - 1) + 1
  if (index === length)
    return {
      kind: 'altered',
      position: anchor.from,
      message: `events ${anchor.from} to ${anchor.to} are not those that were signed`
    }

  const kind = kindOf(signed.slice(index), found.slice(index))
  // Where positions have no gaps, the place of a missing event is known.
  if (kind === 'missing')
    return {
      kind,
      position: hasNoGaps(anchor) ? anchor.from + index : position,
      message: 'a signed event is missing here'
    }
  const said =
    kind === 'added' ? 'it was not there' : kind === 'reordered' ? 'another event stood here' : 'it was another one'
  return { kind, position, message: `${said} when the log was signed` }
}

function kindOf(signed: readonly string[], found: readonly string[]): FaultKind {
  const [wanted] = signed
  const [got] = found
  if (got === undefined) return 'missing'
  if (wanted === undefined) return 'added'
  const wasSigned = signed.includes(got)
  const isThere = found.includes(wanted)
  if (wasSigned && isThere) return 'reordered'
  if (wasSigned) return 'missing'
  return isThere ? 'added' : 'altered'
}
