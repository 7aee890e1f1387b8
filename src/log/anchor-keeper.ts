import { createHash } from 'node:crypto'
import { derivedId } from '../domain/ids.ts'
import type { Anchor, AnchorSigner, HashAt } from './anchors.ts'
import {
  ANCHOR_STREAM,
  ANCHOR_TYPE,
  anchorBody,
  anchorLine,
  createRangeSum,
  MAX_ANCHORED_EVENTS,
  parseAnchor
} from './anchors.ts'
import type { Clock } from './clock.ts'
import { NO_HASH } from './hash-chain.ts'
import type { AppendResult, EventMeta, Expected, NewEvent, Position, RecordedEvent } from './port.ts'
import { LogUnavailable, NO_STREAM } from './port.ts'

/** An event is anchored at the latest this long after it was written. */
export const ANCHOR_INTERVAL_MS = 10_000
/** Hashes read in one turn of the event loop: under five milliseconds. */
const SLICE_EVENTS = 1_000

/** What the keeper needs of a log. */
export type AnchoredLog = {
  /** Hashes in log order, of erased events too where they are still there. */
  hashes(after: Position, limit: number): Hashes | Promise<Hashes>
  /** Events after a position, as far as that is known without reading them. */
  waiting(after: Position): number
  newestAnchor(): RecordedEvent | null | Promise<RecordedEvent | null>
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<AppendResult>
}

type Hashes = readonly (HashAt & { readonly stream: string | null })[]

export type AnchorKeeperOptions = {
  readonly log: AnchoredLog
  /** The newest anchor of the log; it goes on from there. */
  readonly newest: RecordedEvent | null
  readonly signer: AnchorSigner
  readonly clock: Clock
  /** Each anchor that was written, as a line of JSON. */
  readonly onAnchor: (line: string) => void
  /** Hears why an anchor could not be written; it is tried again. */
  readonly onProblem: (error: unknown) => void
}

/** Writes an anchor every 10 s of activity, every 10,000 events, and when it is closed. */
export type AnchorKeeper = {
  /** To be called when the log has grown. */
  grown(): void
  /** Anchors what is not anchored yet. */
  close(): Promise<void>
}

type Last = Pick<Anchor, 'to' | 'rolling' | 'signature'> & { readonly revision: number }

/** Throws LogUnavailable when the newest anchor is none that can be read. */
export function createAnchorKeeper(options: AnchorKeeperOptions): AnchorKeeper {
  const { log, signer, clock, onAnchor, onProblem } = options
  let last = lastOf(options.newest)
  let cancel: (() => void) | null = null
  let running: Promise<void> | null = null

  function grown(): void {
    if (log.waiting(last.to) >= MAX_ANCHORED_EVENTS) void start()
    else arm()
  }

  function arm(): void {
    cancel ??= clock.after(ANCHOR_INTERVAL_MS, () => void start())
  }

  function start(): Promise<void> {
    running ??= run().finally(() => {
      running = null
    })
    return running
  }

  async function run(): Promise<void> {
    cancel?.()
    cancel = null
    try {
      while (await anchorNext());
    } catch (error) {
      // The events are still there later: until then they are not anchored.
      onProblem(error)
      arm()
    }
  }

  /** Anchors the next range; true when there may be a further one. */
  async function anchorNext(): Promise<boolean> {
    const sum = createRangeSum(last.rolling)
    let to = last.to
    let facts = 0
    let room = MAX_ANCHORED_EVENTS
    for (
      let slice = await log.hashes(to, SLICE_EVENTS);
      slice.length > 0;
      slice = await log.hashes(to, Math.min(room, SLICE_EVENTS))
    ) {
      sum.add(slice)
      to = slice.at(-1)?.position ?? to
      room -= slice.length
      facts += slice.filter(({ stream }) => stream !== ANCHOR_STREAM).length
      if (room === 0) break
      await new Promise(setImmediate)
    }
    // An anchor that covers nothing but anchors would beget the next one, for ever.
    if (facts === 0 && room > 0) return false
    const anchor = signer.sign({ from: last.to + 1, to, ...sum.total(), previous: last.signature })
    await write(anchor)
    return room === 0
  }

  async function write(anchor: Anchor): Promise<void> {
    const result = await log.append(ANCHOR_STREAM, last.revision, [eventOf(anchor, last.revision, clock.now())])
    if (result.kind !== 'appended') {
      // Somebody else wrote an anchor: go on from there.
      last = lastOf(await log.newestAnchor())
      throw new Error(`the anchor was not appended: ${result.kind}`)
    }
    last = { to: anchor.to, rolling: anchor.rolling, signature: anchor.signature, revision: result.revision }
    onAnchor(anchorLine(anchor))
    if (result.position > anchor.to + 1) arm()
  }

  async function close(): Promise<void> {
    await running
    await start()
    cancel?.()
  }

  return { grown, close }
}

function lastOf(event: RecordedEvent | null): Last {
  if (!event) return { to: 0, rolling: NO_HASH, signature: '', revision: NO_STREAM }
  const anchor = parseAnchor(event.body)
  if (!anchor) throw new LogUnavailable('the newest anchor cannot be read; `ledgerline log verify` names what is wrong')
  return { to: anchor.to, rolling: anchor.rolling, signature: anchor.signature, revision: event.revision }
}

function eventOf(anchor: Anchor, revision: number, now: number): NewEvent {
  const digest = createHash('sha256').update(`${ANCHOR_STREAM} ${revision} ${anchor.signature}`).digest()
  const meta: EventMeta = {
    tenant: null,
    trace: null,
    cause: null,
    source: ANCHOR_STREAM,
    at: new Date(now).toISOString()
  }
  return { id: derivedId('evt', digest), type: ANCHOR_TYPE, body: anchorBody(anchor), meta: JSON.stringify(meta) }
}
