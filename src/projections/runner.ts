/**
 * Keeps the views up with the log: reads the events after the checkpoints, folds them page by page, one transaction a page.
 * It lives in a thread of its own, so that neither the log's writer nor a request waits for it (architecture, rule 10).
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordedEvent } from '../log/port.ts'
import { createRestart } from '../log/sqlite/wal.ts'
import { createPageFold } from './page-fold.ts'
import type { PageDone, Projection } from './port.ts'
import { openViewsFile, prepareTables } from './views-file.ts'

/** Events after a position in log order; nothing only at the end of the log. */
export type ReadPage = (after: number, limit: number) => readonly RecordedEvent[] | Promise<readonly RecordedEvent[]>

export type RunnerOptions = {
  readonly file: string
  /** Views of another log are thrown away. */
  readonly logId: string
  readonly projections: readonly Projection[]
  readonly readPage: ReadPage
  /** Called after the page's commit. */
  readonly onPage: (done: PageDone) => void
  /** Most events of a page; a page takes fewer when they would not fit into a turn. */
  readonly pageSize?: number
  /** Monotonic milliseconds, to measure how many events fit into a turn. */
  readonly now?: () => number
}

export type Runner = {
  /**
   * Something was appended. Resolves when nothing is left to read; rejects when a projection or the file is broken:
   * the page was then rolled back, and the views stand still.
   */
  advance(): Promise<void>
  /** All projections have passed this position. */
  position(): number
  close(): void
}

export const PAGE_EVENTS = 500
const MIN_PAGE_EVENTS = 25
/** Work of one page: the thread has nothing else to do, and whoever reads what was just written waits for a page at most. */
const TURN_MS = 12
const FIRST_GUESS_MS = 0.02

export function createRunner(options: RunnerOptions): Runner {
  const { projections, readPage, onPage, pageSize = PAGE_EVENTS } = options
  const db = openViewsFile(options.file, options.logId)
  const positions = prepareTables(db, projections, true)
  const fold = createPageFold(db, projections, positions)
  const move = db.prepare('UPDATE checkpoints SET position = ? WHERE position < ?')
  const restartWal = createRestart(db)
  const pace = createPace(pageSize, options.now ?? (() => performance.now()))
  let wanted = false
  let running: Promise<void> | null = null
  let isClosed = false

  const commit = db.transaction((page: readonly RecordedEvent[], end: number) => {
    const touched = fold.apply(page)
    move.run(end, end)
    return touched
  })

  function foldPage(page: readonly RecordedEvent[]): void {
    const end = page.at(-1)?.position ?? 0
    try {
      const touched = pace.measure(page.length, () => commit.immediate(page, end))
      for (const [index, position] of positions.entries()) positions[index] = Math.max(position, end)
      onPage({ position: position(), touched })
      restartWal()
    } catch (error) {
      fold.discard()
      throw error
    }
  }

  async function run(): Promise<void> {
    try {
      while (wanted && !isClosed) {
        wanted = false
        await nextTurn()
        for (let more = true; more && !isClosed; ) {
          const page = await readPage(position(), pace.limit())
          more = page.length > 0 && !isClosed
          if (!more) continue
          foldPage(page)
          await nextTurn()
        }
      }
    } finally {
      running = null
    }
  }

  const position = (): number => (positions.length === 0 ? 0 : Math.min(...positions))

  return {
    advance() {
      wanted = true
      running ??= run()
      return running
    },
    position,
    close() {
      isClosed = true
      db.close()
    }
  }
}

type Pace = { limit(): number; measure<T>(events: number, work: () => T): T }

/** Learns from full pages how many events fit into a turn. */
function createPace(pageSize: number, now: () => number): Pace {
  let eventMs = FIRST_GUESS_MS
  const limit = () => Math.min(pageSize, Math.max(MIN_PAGE_EVENTS, Math.floor(TURN_MS / eventMs)))
  return {
    limit,
    measure(events, work) {
      const began = now()
      const result = work()
      if (events >= MIN_PAGE_EVENTS) eventMs = 0.7 * eventMs + 0.3 * ((now() - began) / events)
      return result
    }
  }
}
