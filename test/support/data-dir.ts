/** The files of a service that is not running: its views as rows, and the same folded anew from its log. */
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { chainHash, NO_HASH } from '../../src/log/hash-chain.ts'
import { readLogId } from '../../src/log/sqlite/log-id.ts'
import { createReader } from '../../src/log/sqlite/reader.ts'
import { logFile, openForReading } from '../../src/log/sqlite/schema.ts'
import { projections } from '../../src/projections/all.ts'
import { rebuild } from '../../src/projections/rebuild.ts'
import { dump, indexesOf } from '../projections/spec.ts'

type Rows = Readonly<Record<string, readonly unknown[]>>

/** Every row of every table, and the indexes. How far the views got is left out: an anchor may have come after them. */
export function viewsOfDataDir(dataDir: string): { rows: Rows; indexes: readonly unknown[] } {
  const file = join(dataDir, 'views.db')
  const { checkpoints: _position, ...rows } = dump(file)
  return { rows, indexes: indexesOf(file) }
}

/** Throws the views away and folds them anew. */
export async function rebuildViews(dataDir: string): Promise<{ events: number; position: number }> {
  const db = openForReading(logFile(dataDir))
  try {
    const reader = createReader(db)
    const readPage = async (after: number, limit: number) => reader.page(after, limit)
    return await rebuild({ file: join(dataDir, 'views.db'), logId: readLogId(dataDir), projections, readPage })
  } finally {
    db.close()
  }
}

/** Messages whose dispatch has begun and has no outcome in the log: those that a death caught in flight. */
export function messagesInFlight(dataDir: string): readonly string[] {
  const db = openForReading(logFile(dataDir))
  try {
    return db
      .prepare<[], string>(
        `SELECT s.name FROM streams s JOIN events e ON e.stream_no = s.no AND e.revision = s.revision
         WHERE e.type = 'MessageDispatchStarted'`
      )
      .pluck()
      .all()
      .map(name => name.replace('message-', ''))
  } finally {
    db.close()
  }
}

/** Names of the key streams that were not erased; also beside a running service. */
export function keyStreams(dataDir: string): readonly string[] {
  const db = openForReading(logFile(dataDir))
  try {
    return db.prepare<[], string>("SELECT name FROM streams WHERE name LIKE 'keys-tn%' AND erased = 0").pluck().all()
  } finally {
    db.close()
  }
}

/** The log of a stopped service in a folder of its own, in one file and open for whatever the test does to it. */
export function copyOfLog(dataDir: string, target: string): Database.Database {
  for (const suffix of ['', '-wal'])
    if (existsSync(`${logFile(dataDir)}${suffix}`))
      copyFileSync(`${logFile(dataDir)}${suffix}`, `${logFile(target)}${suffix}`)
  const db = new Database(logFile(target))
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.pragma('journal_mode = DELETE')
  return db
}

type StoredEvent = { position: number; revision: number; id: string; type: string; body: string; meta: string }

/** What a forger would do: the chain of a stream, and its head, made to fit whatever stands there now. */
export function rechain(db: Database.Database, stream: string): void {
  const no = db.prepare('SELECT no FROM streams WHERE name = ?').pluck().get(stream)
  const rows = db.prepare<unknown[], StoredEvent>('SELECT * FROM events WHERE stream_no = ? ORDER BY revision').all(no)
  let hash = NO_HASH
  for (const row of rows) {
    hash = chainHash(hash, stream, row.revision, row)
    db.prepare('UPDATE events SET hash = ? WHERE position = ?').run(Buffer.from(hash, 'hex'), row.position)
  }
  const head = Buffer.from(hash, 'hex')
  db.prepare('UPDATE streams SET revision = ?, head_hash = ? WHERE no = ?').run(rows.at(-1)?.revision ?? -1, head, no)
}
