import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { EventVersion } from '../event-versions.ts'
import { LogUnavailable } from '../port.ts'
import { useWal } from './wal.ts'

/** Version of the tables below. A log of another version is refused. */
export const FORMAT = 1
/** How long one statement of a reader waits for a lock of another connection: it blocks its whole thread. */
const READER_WAIT_MS = 250
/** The same for the writer: nobody else writes, only emptying the write-ahead log meets readers, and that is repeated. */
const WRITER_WAIT_MS = 20

export const logFile = (dataDir: string): string => join(dataDir, 'log.db')

const TABLES = `
  CREATE TABLE log (format INTEGER NOT NULL, id TEXT NOT NULL);
  CREATE TABLE streams (
    no INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    key INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    head_hash BLOB NOT NULL,
    erased INTEGER NOT NULL
  );
  CREATE INDEX streams_by_key ON streams (key);
  CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    stream_no INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    hash BLOB NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    meta TEXT NOT NULL
  );
  CREATE UNIQUE INDEX events_by_stream ON events (stream_no, revision);
`

/** Types and versions of all events that were ever stored. A log from before it is read once, when it is added. */
const VERSIONS = `
  CREATE TABLE event_versions (type TEXT NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (type, version)) WITHOUT ROWID;
  INSERT INTO event_versions
    SELECT DISTINCT type, coalesce(json_extract(body, '$.v'), 0) FROM events WHERE type <> '' AND json_valid(body);
`

/** Opens the log for writing and creates it where there is none. Throws LogUnavailable, in one line. */
export function openForWriting(file: string): Database.Database {
  return opened(file, () => new Database(file, { timeout: WRITER_WAIT_MS }), prepareForWriting)
}

/** Opens an existing log read-only, beside its writer or alone. Throws LogUnavailable, in one line. */
export function openForReading(file: string): Database.Database {
  const options = { readonly: true, fileMustExist: true, timeout: READER_WAIT_MS }
  return opened(file, () => new Database(file, options), checkFormat)
}

function opened(file: string, open: () => Database.Database, prepare: (db: Database.Database) => void) {
  let db: Database.Database | undefined
  try {
    db = open()
    prepare(db)
    return db
  } catch (error) {
    db?.close()
    throw unavailable(error, file)
  }
}

function prepareForWriting(db: Database.Database): void {
  useWal(db)
  // FULL: a commit is on the disk before it is acknowledged. The driver's own default for WAL is NORMAL.
  db.pragma('synchronous = FULL')
  db.pragma('secure_delete = ON')
  db.pragma('temp_store = MEMORY')
  db.transaction(() => {
    if (isEmpty(db)) create(db)
    checkFormat(db)
    if (!hasVersions(db)) db.exec(VERSIONS)
  }).immediate()
}

const isEmpty = (db: Database.Database): boolean => db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0

function create(db: Database.Database): void {
  db.exec(TABLES)
  db.prepare('INSERT INTO log (format, id) VALUES (?, ?)').run(FORMAT, randomUUID())
}

function checkFormat(db: Database.Database): void {
  const format = db.prepare('SELECT format FROM log').pluck().get()
  if (format !== FORMAT) throw new LogUnavailable(`the event log has format ${format}, this program knows ${FORMAT}`)
}

const hasVersions = (db: Database.Database): boolean =>
  db.prepare(`SELECT count(*) FROM sqlite_schema WHERE name = 'event_versions'`).pluck().get() !== 0

/** What the log holds; nothing when no writer of this format has opened it yet. */
export function storedVersions(db: Database.Database): readonly EventVersion[] {
  if (!hasVersions(db)) return []
  return db.prepare<[], EventVersion>('SELECT type, version FROM event_versions ORDER BY type, version').all()
}

/** What the caller may be told about an error of SQLite: one line, no content. */
export function unavailable(error: unknown, file: string): LogUnavailable {
  if (error instanceof LogUnavailable) return error
  const code = codeOf(error)
  const reason = REASONS.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'it cannot be used'
  return new LogUnavailable(`event log ${file}: ${reason} (${code})`, { cause: error })
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown error'
  if ('code' in error && typeof error.code === 'string') return error.code
  return error instanceof Error ? error.message : 'unknown error'
}

const REASONS: readonly (readonly [string, string])[] = [
  ['SQLITE_FULL', 'the disk is full'],
  ['SQLITE_READONLY', 'the file or its directory is read-only'],
  ['SQLITE_CANTOPEN', 'the file cannot be opened; does its directory exist, and may this user write there?'],
  ['SQLITE_CORRUPT', 'the file is damaged; `ledgerline log verify` names what is wrong'],
  ['SQLITE_NOTADB', 'the file is damaged or not a database'],
  ['SQLITE_IOERR', 'the disk answers with an error'],
  ['SQLITE_BUSY', 'another process holds it']
]
