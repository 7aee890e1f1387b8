/** Fills all views anew, beside the old file, and puts the new file in its place. Nobody may have the file open. */
import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { createPageFold } from './page-fold.ts'
import type { Projection } from './port.ts'
import type { ReadPage } from './runner.ts'
import { createIndexes } from './tables.ts'
import { createBookkeeping, prepareTables, removeViewsFile } from './views-file.ts'

export type RebuildOptions = {
  readonly file: string
  readonly logId: string
  readonly projections: readonly Projection[]
  readonly readPage: ReadPage
  /** After each page, and a last time when the indexes stand. */
  readonly onProgress?: (progress: { readonly events: number; readonly position: number }) => void
  readonly pageSize?: number
}

const PAGE_EVENTS = 5_000
const CACHE_KIB = 64 * 1024

/** Resolves when the new file stands in place of the old one; a failure leaves the old one as it was. */
export async function rebuild(options: RebuildOptions): Promise<{ events: number; position: number }> {
  const next = `${options.file}.next`
  removeViewsFile(next)
  const db = new Database(next)
  try {
    // A file that is thrown away when anything goes wrong needs neither journal nor waiting for the disk.
    db.pragma('journal_mode = OFF')
    db.pragma('synchronous = OFF')
    db.pragma('temp_store = MEMORY')
    db.pragma(`cache_size = -${CACHE_KIB}`)
    const filled = await fill(db, options)
    db.pragma('journal_mode = WAL')
    db.close()
    flushToDisk(next)
    removeViewsFile(options.file)
    renameSync(next, options.file)
    options.onProgress?.(filled)
    return filled
  } catch (error) {
    if (db.open) db.close()
    removeViewsFile(next)
    throw error
  }
}

async function fill(db: Database.Database, options: RebuildOptions): Promise<{ events: number; position: number }> {
  const { projections, readPage, onProgress, pageSize = PAGE_EVENTS } = options
  createBookkeeping(db, options.logId)
  const positions = prepareTables(db, projections, false)
  const fold = createPageFold(db, projections, positions)
  const commit = db.transaction(fold.apply)
  let events = 0
  let position = 0
  for (;;) {
    const page = await readPage(position, pageSize)
    const last = page.at(-1)
    if (!last) break
    commit(page)
    events += page.length
    position = last.position
    onProgress?.({ events, position })
    await nextTurn()
  }
  for (const table of projections.flatMap(projection => projection.tables)) createIndexes(db, table)
  db.prepare('UPDATE checkpoints SET position = ?').run(position)
  return { events, position }
}

function flushToDisk(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
