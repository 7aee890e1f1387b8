import type { AnchorCopy } from './anchors.ts'
import { ANCHOR_STREAM, copyOf, isSigned, PREFIX_DIGITS, parseAnchor, parseAnchorLine } from './anchors.ts'
import { isKeyStream } from './key-streams.ts'
import type { Position } from './port.ts'
import { createAnchorCheck, createTrust, hasNoGaps, prefixesOf } from './verify-anchors.ts'
import { createChainCheck, placeOf } from './verify-chains.ts'
import type { Faults, VerifyReport } from './verify-report.ts'
import { createFaults } from './verify-report.ts'
import type { FoundEvent, VerifySource } from './verify-source.ts'

export type VerifyOptions = {
  /** Keys that may sign anchors, SPKI DER in base64. Without them the first anchor's key is believed. */
  readonly publicKeys?: readonly string[]
  /** Lines of ANCHOR_FILE: only with them does a log show that its end was cut off together with its anchors. */
  readonly anchorLines?: Iterable<string>
  /** Verifies this stream only. */
  readonly stream?: string
  readonly onProgress?: (events: number, position: Position) => void
}

/**
 * Proves a log intact, or names what was altered, is missing, was added or reordered (decisions §8.1). Never changes it.
 * One pass over the events; memory follows the number of streams.
 */
export async function verifyLog(source: VerifySource, options: VerifyOptions = {}): Promise<VerifyReport> {
  const faults = createFaults()
  const copies = copiesIn(options.anchorLines ?? [])
  const work = options.stream === undefined ? verifyWhole : verifyStream
  const found = await work(source, { ...options, copies, faults })
  const list = faults.list()
  return { ok: list.length === 0, ...found, faults: list }
}

type Context = VerifyOptions & { readonly copies: readonly AnchorCopy[]; readonly faults: Faults }
type Found = Omit<VerifyReport, 'ok' | 'faults'>

function copiesIn(lines: Iterable<string>): AnchorCopy[] {
  return [...lines].flatMap(line => parseAnchorLine(line) ?? [])
}

async function verifyWhole(source: VerifySource, { faults, publicKeys, copies, onProgress }: Context): Promise<Found> {
  const chains = createChainCheck(faults)
  const anchors = createAnchorCheck({ faults, publicKeys, copies })
  let position = 0
  let count = 0

  function take(event: FoundEvent): void {
    if (source.dense && event.position > position + 1) reportGap(faults, position + 1, event.position - 1)
    if (event.position <= position) faults.add('reordered', placeOf(event), `it stands after event ${position}`)
    position = event.position
    count++
    chains.event(event)
    if (source.anchorsCoverKeys || !isKeyStream(event.content?.stream ?? '')) anchors.event(event)
  }

  async function takeAll(): Promise<void> {
    for await (const page of source.events(position)) {
      page.forEach(take)
      onProgress?.(count, position)
    }
  }

  await readable(
    faults,
    () => position,
    async () => {
      await takeAll()
      source.freeze()
      await takeAll()
      checkBooks(source, chains, faults, position)
    }
  )
  return { events: count, ...chains.counts(), ...anchors.end() }
}

function checkBooks(
  source: VerifySource,
  chains: ReturnType<typeof createChainCheck>,
  faults: Faults,
  position: Position
): void {
  const highest = source.highest()
  if (highest !== null && highest > position) reportGap(faults, position + 1, highest)
  if (highest !== null && highest < position)
    faults.add('added', { position: highest + 1 }, 'the log had not given this position to any event')
  let books = false
  for (const page of source.streams()) {
    books = true
    page.forEach(chains.end)
  }
  if (books) chains.unbooked()
  for (const complaint of source.complaints()) faults.add('unreadable', {}, complaint)
}

function reportGap(faults: Faults, from: Position, to: Position): void {
  faults.add(
    'missing',
    { position: from },
    from === to ? `event ${from} is missing` : `events ${from} to ${to} are missing`
  )
}

/** Runs the check and turns a log that cannot be read on into a fault; false then. */
async function readable(faults: Faults, position: () => Position, check: () => Promise<void>): Promise<boolean> {
  try {
    await check()
    return true
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown error'
    faults.add(
      'unreadable',
      { position: position() + 1 },
      `the log cannot be read on after event ${position()}: ${reason}`
    )
    return false
  }
}

/** One stream: its chain and its end, and its events against the anchors that cover them. */
async function verifyStream(source: VerifySource, context: Context): Promise<Found> {
  const { faults, stream = '' } = context
  const chains = createChainCheck(faults)
  const events: FoundEvent[] = []
  let covered: Pick<Found, 'anchoredTo' | 'unanchored' | 'publicKeys'> = {
    anchoredTo: 0,
    unanchored: null,
    publicKeys: []
  }
  await readable(
    faults,
    () => events.at(-1)?.position ?? 0,
    async () => {
      for await (const page of source.events(0, stream)) {
        page.forEach(chains.event)
        // Only hashes are kept: what a stream holds may be large.
        events.push(
          ...page.map(event => ({ ...event, content: event.content && { ...event.content, body: '', meta: '' } }))
        )
        context.onProgress?.(events.length, events.at(-1)?.position ?? 0)
      }
      for (const page of source.streams(stream)) page.forEach(chains.end)
      if (events.length === 0) faults.add('missing', { stream }, 'the log has no such stream')
      covered = await againstAnchors(source, events, context)
    }
  )
  return { events: events.length, ...chains.counts(), ...covered }
}

async function againstAnchors(source: VerifySource, events: readonly FoundEvent[], context: Context) {
  const { faults, publicKeys, copies } = context
  const trust = createTrust(publicKeys, copies)
  let anchoredTo = 0
  for await (const page of source.events(0, ANCHOR_STREAM))
    for (const found of page) {
      const anchor = parseAnchor(String(found.content?.body))
      if (!anchor || !isSigned(copyOf(anchor)) || !trust.accepts(anchor.publicKey)) {
        faults.add('anchor_signature', placeOf(found), 'the anchor is not signed with a key that was named')
        continue
      }
      anchoredTo = anchor.to
      const inRange = events.filter(({ position }) => position >= anchor.from && position <= anchor.to)
      // Where positions have gaps, only the whole log can be compared with its anchors.
      if (inRange.length === 0 || !hasNoGaps(anchor)) continue
      const signed = prefixesOf(anchor)
      for (const event of inRange)
        if (signed[event.position - anchor.from] !== event.hash.slice(0, PREFIX_DIGITS))
          faults.replace('altered', placeOf(event), 'it was another one when the log was signed')
    }
  const open = events.filter(({ position }) => position > anchoredTo)
  const from = open[0]?.position
  const to = open.at(-1)?.position
  const unanchored = from === undefined || to === undefined ? null : { from, to, count: open.length }
  return { anchoredTo, unanchored, publicKeys: trust.keys() }
}
