/** Given events, the rows: folds a history into a views file, in several ways, and shows what came out. */
import Database from 'better-sqlite3'
import { projections } from '../../src/projections/all.ts'
import { type OpenedViews, openViews } from '../../src/projections/open-views.ts'
import type { PageDone } from '../../src/projections/port.ts'
import { createRunner } from '../../src/projections/runner.ts'
import { keyColumns } from '../../src/projections/tables.ts'
import { type History, LOG_ID } from './history.ts'

export async function foldLive(file: string, history: History, pageSize = 500): Promise<readonly PageDone[]> {
  const pages: PageDone[] = []
  const runner = createRunner({
    file,
    logId: LOG_ID,
    projections,
    readPage: history.readPage,
    onPage: done => void pages.push(done),
    pageSize
  })
  await runner.advance()
  runner.close()
  return pages
}

/** The views of a history, folded and opened; the caller closes them. */
export async function viewsOf(file: string, history: History): Promise<OpenedViews> {
  await foldLive(file, history)
  return openViews({ file, messageNoOf: history.messageNoOf })
}

/** Every row of every table, in the order of the keys. */
export function dump(file: string): Readonly<Record<string, readonly unknown[]>> {
  const db = new Database(file, { readonly: true })
  try {
    const tables = projections.flatMap(projection => projection.tables)
    const rows = tables.map(table => [
      table.name,
      db.prepare(`SELECT * FROM ${table.name} ORDER BY ${keyColumns(table).join(', ')}`).all()
    ])
    return { ...Object.fromEntries(rows), checkpoints: db.prepare('SELECT * FROM checkpoints ORDER BY name').all() }
  } finally {
    db.close()
  }
}

/** The indexes of a file, with their text. */
export function indexesOf(file: string): readonly unknown[] {
  const db = new Database(file, { readonly: true })
  try {
    return db
      .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
      .all()
  } finally {
    db.close()
  }
}
