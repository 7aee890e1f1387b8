/** Folds pages of events into the tables of all projections, inside a transaction that the caller holds. */
import type { Database } from 'better-sqlite3'
import { type Decoded, decode } from '../log/codec.ts'
import type { RecordedEvent } from '../log/port.ts'
import { createPageRows } from './page-rows.ts'
import type { PageDone, Projection, Recorded, Topic } from './port.ts'

export type PageFold = {
  /** Applies what a projection has not seen yet; answers who was touched. */
  apply(page: readonly RecordedEvent[]): PageDone['touched']
  /** Forgets a page that did not reach the disk. */
  discard(): void
}

/** `positions` says how far each projection has read, in their order; the caller moves it when the page is committed. */
export function createPageFold(
  db: Database,
  projections: readonly Projection[],
  positions: readonly number[]
): PageFold {
  const rows = createPageRows(
    db,
    projections.flatMap(projection => projection.tables)
  )
  const routes = routesOf(projections)
  let touched = new Map<Topic, Set<string>>()

  function touch(topic: Topic, id: string): void {
    const ids = touched.get(topic)
    if (ids) ids.add(id)
    else touched.set(topic, new Set([id]))
  }

  return {
    apply(page) {
      touched = new Map()
      for (const recorded of page) {
        const readers = routes.get(recorded.type)
        if (!readers) continue
        const event = located(recorded)
        for (const { projection, index } of readers)
          if (recorded.position > (positions[index] ?? 0)) projection.apply(event, rows, touch)
      }
      rows.flush()
      return Object.fromEntries([...touched].map(([topic, ids]) => [topic, [...ids]]))
    },
    discard: rows.discard
  }
}

type Reader = { readonly projection: Projection; readonly index: number }

function routesOf(projections: readonly Projection[]): ReadonlyMap<string, readonly Reader[]> {
  const routes = new Map<string, Reader[]>()
  for (const [index, projection] of projections.entries())
    for (const type of projection.handles) {
      const readers = routes.get(type) ?? []
      readers.push({ projection, index })
      routes.set(type, readers)
    }
  return routes
}

function located(recorded: RecordedEvent): Recorded {
  const event: Decoded & { stream?: string; streamNo?: number } = decode(recorded)
  event.stream = recorded.stream
  event.streamNo = recorded.streamNo
  return event as Recorded
}
