import type { HashAt } from '../anchors.ts'
import { isKeyStream } from '../key-streams.ts'
import type { Position, RecordedEvent } from '../port.ts'

/** Twice what an anchor covers, about 200 bytes each: in normal running an anchor is made from memory alone. */
const HELD_MAX = 20_000

export type AnchoredHash = HashAt & { readonly stream: string }

/** The hashes of what a follower has read last, so that anchors need not read it a second time. */
export type RecentHashes = {
  /** The next page of the follower; one that is given again is not counted again. */
  add(page: readonly RecordedEvent[]): void
  /** The next ones after a position, empty at the end of what was followed; null when that lies further back than is held. */
  after(position: Position, limit: number): readonly AnchoredHash[] | null
  /** How many there are after a position; null when that lies further back than is held. */
  countAfter(position: Position): number | null
}

/** `start`: where the follower begins. Key streams are left out: a scavenge takes them away for good. */
export function createRecentHashes(start: Position): RecentHashes {
  let held: AnchoredHash[] = []
  /** Everything after it is held. */
  let since = start
  let seen = start

  /** Place of the first after a position. Most are asked for near the end. */
  function placeAfter(position: Position): number {
    let low = 0
    let high = held.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((held[middle]?.position ?? 0) > position) high = middle
      else low = middle + 1
    }
    return low
  }

  return {
    add(page) {
      for (const { position, hash, stream } of page) {
        if (position <= seen) continue
        seen = position
        if (!isKeyStream(stream)) held.push({ position, hash, stream })
      }
      if (held.length <= HELD_MAX) return
      const dropped = held.length - HELD_MAX / 2
      since = held[dropped - 1]?.position ?? since
      held = held.slice(dropped)
    },
    after(position, limit) {
      if (position < since) return null
      const place = placeAfter(position)
      return held.slice(place, place + limit)
    },
    countAfter: position => (position < since ? null : held.length - placeAfter(position))
  }
}
