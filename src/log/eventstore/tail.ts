import type { ResolvedEvent } from '@eventstore/db-client'
import type { Position } from '../port.ts'
import type { Connection } from './connection.ts'
import type { Numbers } from './numbers.ts'
import type { Budget } from './retry.ts'
import { repeatedly } from './retry.ts'
import { decodeEvent, positionOf } from './wire-event.ts'

const FIRST_PAGE = 8
const LARGEST_PAGE = 512

export type Tail = {
  /** An event of ours stands at this position. */
  saw(position: Position): void
  /** Position of the newest event of ours, 0 when there is none. */
  head(budget: Budget): Promise<Position>
}

/**
 * The end of our part of the log. The server is read backwards until an event of ours comes, or a place from which on
 * there was none the last time: others' events are passed over once.
 */
export function createTail(connection: Connection, numbers: Numbers, prefix: string): Tail {
  let newest: Position = 0
  /** No event of ours stands between `newest` and here. */
  let searched: Position = 0

  function isOurs({ event }: ResolvedEvent): boolean {
    if (!event?.streamId.startsWith(prefix) || event.streamId.startsWith('$') || event.type.startsWith('$'))
      return false
    const stored = decodeEvent(event, prefix)
    return stored !== null && !numbers.isErased(stored.stream)
  }

  return {
    saw(position) {
      newest = Math.max(newest, position)
    },
    async head(budget) {
      let top: Position | null = null
      let from: Position | 'end' = 'end'
      const floor = Math.max(newest, searched)
      for (let limit = FIRST_PAGE; ; limit = Math.min(limit * 4, LARGEST_PAGE)) {
        const before: Position | 'end' = from
        const page: ResolvedEvent[] = await repeatedly(budget, () => connection.readAll(before, true, limit))
        const positions = page.map(({ event }) => (event ? positionOf(event) : 0))
        top ??= positions[0] ?? 0
        const index = page.findIndex((event, at) => (positions[at] ?? 0) <= floor || isOurs(event))
        const found = positions[index] ?? 0
        if (found > floor) newest = Math.max(newest, found)
        if (index >= 0 || page.length < limit) break
        from = positions.at(-1) ?? 0
      }
      searched = Math.max(searched, top)
      return newest
    }
  }
}
