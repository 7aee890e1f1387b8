import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import type { Position } from '../port.ts'

/** Streams whose numbers stay in memory, about 150 bytes each. */
const MAX_KNOWN = 50_000
const LOCK_WAIT_MS = 1_000

/**
 * Numbers of streams. A stream's number is the position of its first event: unique, in the order in which streams
 * appeared, the same on every node and after every rebuild. This table only remembers where that was. It is filled by
 * followers in log order up to `reach()`; a lost file is filled again.
 */
export type Numbers = {
  find(stream: string): number | null
  isErased(stream: string): boolean
  /** A stream begins at this position: known before a follower has passed it. */
  learn(stream: string, first: Position): void
  /** The stream was erased: it has no number any more. */
  bury(stream: string): void
  /** Everything up to this position is in the table. */
  reach(): Position
  /**
   * Takes in what a follower has read in log order after `from`, and answers the number of each event's stream, null
   * when it was erased.
   */
  take(page: readonly Numbered[], from: Position, to: Position): (number | null)[]
  close(): void
}

export type Numbered = {
  readonly stream: string
  readonly revision: number
  readonly position: Position
  /** The stream's tombstone. */
  readonly isEnd: boolean
}

type Row = { readonly no: number | null }

/** `file` may be ':memory:'; threads and processes of one node may share it. A file of another log is emptied. */
export function openNumbers(file: string, logId: string): Numbers {
  const db = new Database(file, { timeout: LOCK_WAIT_MS })
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  prepare(db, logId)
  const known = new LRUCache<string, number>({ max: MAX_KNOWN })
  const select = db.prepare<[Buffer], Row>('SELECT no FROM streams WHERE key = ?')
  const insert = db.prepare('INSERT INTO streams (key, no) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const erase = db.prepare('INSERT INTO streams (key, no) VALUES (?, NULL) ON CONFLICT DO UPDATE SET no = NULL')
  const readReach = db.prepare<[], number>('SELECT reach FROM log').pluck()
  const moveReach = db.prepare('UPDATE log SET reach = max(reach, ?) WHERE reach >= ?')

  function bury(stream: string): void {
    known.delete(stream)
    erase.run(keyOf(stream))
  }

  function numberAt({ stream, position }: Numbered): number | null {
    const remembered = known.get(stream)
    if (remembered !== undefined && remembered < position) return remembered
    const key = keyOf(stream)
    const row = select.get(key)
    if (!row) insert.run(key, position)
    const no = row ? row.no : position
    if (no !== null) known.set(stream, no)
    return no
  }

  const take = db.transaction((page: readonly Numbered[], from: Position, to: Position) => {
    const numbers = page.map(event => {
      if (!event.isEnd) return numberAt(event)
      bury(event.stream)
      return null
    })
    moveReach.run(to, from)
    return numbers
  })

  return {
    find(stream) {
      const no = known.get(stream) ?? select.get(keyOf(stream))?.no ?? null
      if (no !== null) known.set(stream, no)
      return no
    },
    isErased: stream => select.get(keyOf(stream))?.no === null,
    learn: (stream, first) => void known.set(stream, first),
    bury,
    reach: () => readReach.get() ?? 0,
    take: (page, from, to) => take.immediate(page, from, to),
    close: () => void db.close()
  }
}

function prepare(db: Database.Database, logId: string): void {
  db.transaction(() => {
    db.exec('CREATE TABLE IF NOT EXISTS log (id TEXT NOT NULL, reach INTEGER NOT NULL)')
    db.exec('CREATE TABLE IF NOT EXISTS streams (key BLOB PRIMARY KEY, no INTEGER) WITHOUT ROWID')
    if (db.prepare('SELECT id FROM log').pluck().get() === logId) return
    db.exec('DELETE FROM log; DELETE FROM streams')
    db.prepare('INSERT INTO log (id, reach) VALUES (?, 0)').run(logId)
  }).immediate()
}

/** 128 bits of the name's SHA-256: names need not be kept. */
const keyOf = (stream: string): Buffer => createHash('sha256').update(stream).digest().subarray(0, 16)
