/** The file of the views: which log it was filled from, how far each projection is, and which tables belong to it. */
import { rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { useWal } from '../log/sqlite/wal.ts'
import type { Projection } from './port.ts'
import { createIndexes, createTable } from './tables.ts'

/** Version of the bookkeeping tables below; another one means filling the file anew. */
const FORMAT = 1
const LOCK_WAIT_MS = 250

const BOOKKEEPING = `
  CREATE TABLE views (format INTEGER NOT NULL, logId TEXT NOT NULL);
  CREATE TABLE checkpoints (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    tables TEXT NOT NULL
  ) WITHOUT ROWID;
`

export type Checkpoint = { readonly name: string; readonly version: number; readonly position: number }
type StoredCheckpoint = Checkpoint & { readonly tables: string }

/**
 * Opens the views for their one writer. A file of another log or format is thrown away and begun anew.
 * NORMAL: a power cut may take the last pages, which the checkpoints say, and which are then folded again.
 */
export function openViewsFile(file: string, logId: string): Database.Database {
  const db = openConnection(file)
  if (belongsTo(db, logId)) return db
  db.close()
  removeViewsFile(file)
  const fresh = openConnection(file)
  createBookkeeping(fresh, logId)
  return fresh
}

function openConnection(file: string): Database.Database {
  const db = new Database(file, { timeout: LOCK_WAIT_MS })
  useWal(db)
  db.pragma('synchronous = NORMAL')
  db.pragma('temp_store = MEMORY')
  return db
}

function belongsTo(db: Database.Database, logId: string): boolean {
  const known = db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'views'").pluck().get()
  if (known === 0) return false
  const row = db.prepare<[], { format: number; logId: string }>('SELECT format, logId FROM views').get()
  return row?.format === FORMAT && row.logId === logId
}

export function createBookkeeping(db: Database.Database, logId: string): void {
  db.transaction(() => {
    db.exec(BOOKKEEPING)
    db.prepare('INSERT INTO views (format, logId) VALUES (?, ?)').run(FORMAT, logId)
  })()
}

/** The main file goes first: a write-ahead log that is left alone is never played into another file. */
export function removeViewsFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
}

/**
 * Makes the tables fit the projections: new and changed ones begin empty, those that nobody owns any more go.
 * Answers the position that each projection has reached, in their order.
 */
export function prepareTables(
  db: Database.Database,
  projections: readonly Projection[],
  withIndexes: boolean
): number[] {
  const insert = db.prepare('INSERT INTO checkpoints (name, version, position, tables) VALUES (?, ?, 0, ?)')
  const forget = db.prepare('DELETE FROM checkpoints WHERE name = ?')
  return db.transaction(() => {
    const stored = db.prepare<[], StoredCheckpoint>('SELECT * FROM checkpoints').all()
    const kept = new Map<string, number>()
    for (const { name, version, position, tables } of stored) {
      if (projections.some(projection => projection.name === name && projection.version === version)) {
        kept.set(name, position)
        continue
      }
      for (const table of JSON.parse(tables) as string[]) db.exec(`DROP TABLE IF EXISTS ${table}`)
      forget.run(name)
    }
    for (const { name, version, tables } of projections.filter(projection => !kept.has(projection.name))) {
      for (const table of tables) {
        createTable(db, table)
        if (withIndexes) createIndexes(db, table)
      }
      insert.run(name, version, JSON.stringify(tables.map(table => table.name)))
    }
    return projections.map(projection => kept.get(projection.name) ?? 0)
  })()
}

export function readCheckpoints(db: Database.Database): readonly Checkpoint[] {
  return db.prepare<[], Checkpoint>('SELECT name, version, position FROM checkpoints ORDER BY name').all()
}
