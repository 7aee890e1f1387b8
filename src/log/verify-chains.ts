import { chainHash, NO_HASH } from './hash-chain.ts'
import type { Faults, Place } from './verify-report.ts'
import type { FoundContent, FoundEvent, FoundStream } from './verify-source.ts'

type End = {
  readonly revision: number
  readonly hash: string
  /** Something was wrong at this event already. */
  readonly broken: boolean
  /** The event after which revisions were left out: if they come later, they were moved. */
  readonly gap: Place | null
}

const START: End = { revision: -1, hash: NO_HASH, broken: false, gap: null }

/** Checks that each stream's revisions follow each other, and that each event fits its hash and the one before. */
export type ChainCheck = {
  event(event: FoundEvent): void
  /** Compares a stream's end with the log's books. */
  end(stream: FoundStream): void
  /** Streams with events that the books do not know. */
  unbooked(): void
  /** Streams that have events, and events whose content is not there. */
  counts(): { readonly streams: number; readonly withoutContent: number }
}

/** Memory: about 150 bytes a stream. */
export function createChainCheck(faults: Faults): ChainCheck {
  const ends = new Map<number, End>()
  const booked = new Set<number>()
  let withoutContent = 0

  function event(event: FoundEvent): void {
    const before = ends.get(event.streamNo) ?? START
    const { revision, hash } = event
    const next = before.revision + 1
    if (event.content === null) withoutContent++
    if (revision === next) {
      const fault = faultOf(event, before)
      if (fault) faults.add(before.broken ? 'chain' : 'altered', placeOf(event), fault)
      ends.set(event.streamNo, { revision, hash, broken: fault !== null, gap: before.gap })
    } else if (revision > next) {
      faults.add('missing', placeOf(event), `revisions ${next} to ${revision - 1} of its stream are not before it`)
      ends.set(event.streamNo, { revision, hash, broken: true, gap: placeOf(event) })
    } else {
      // The stream's later revisions came first: that was no gap, that was another order.
      if (before.gap) faults.replace('reordered', before.gap, 'it stands before older events of its stream')
      faults.add('reordered', placeOf(event), `revision ${revision} of its stream stands after ${before.revision}`)
      ends.set(event.streamNo, { ...before, broken: true })
    }
  }

  function end({ no, name, revision, hash }: FoundStream): void {
    booked.add(no)
    const { revision: found, hash: foundHash } = ends.get(no) ?? START
    const place = { stream: name, revision }
    if (found < revision)
      faults.add('missing', place, `the newest events of the stream are missing: it ends at ${found}`)
    else if (found > revision) faults.add('stream_head', place, `the stream has events up to ${found}`)
    else if (foundHash !== hash) faults.add('stream_head', place, 'the newest event of the stream is another one')
  }

  function unbooked(): void {
    for (const [no, { revision }] of ends)
      if (!booked.has(no)) faults.add('stream_head', { revision }, `stream number ${no} has events, but no name`)
  }

  return { event, end, unbooked, counts: () => ({ streams: ends.size, withoutContent }) }
}

/** What is wrong with an event that stands at the right revision, or null. */
function faultOf({ revision, hash, content }: FoundEvent, before: End): string | null {
  if (!/^[0-9a-f]{64}$/.test(hash)) return 'its hash is not a hash'
  if (content === null) return null
  if (!isText(content)) return 'its content is not text'
  const right = chainHash(before.hash, content.stream, revision, content)
  return right === hash ? null : 'its content, its hash or the hash before it was changed'
}

/** A damaged file may hold values of any kind. */
const isText = (content: FoundContent): boolean => Object.values(content).every(value => typeof value === 'string')

export const placeOf = ({ position, revision, content }: FoundEvent): Place => ({
  position,
  revision,
  stream: content?.stream ?? null,
  eventId: content?.id ?? null
})
