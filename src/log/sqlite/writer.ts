import type { Database } from 'better-sqlite3'
import type { AppendRequest } from '../append-request.ts'
import { problemOf } from '../append-request.ts'
import { createVersionSet, type EventVersion, versionOf } from '../event-versions.ts'
import { chainHash, NO_HASH } from '../hash-chain.ts'
import { isKeyStream } from '../key-streams.ts'
import type { AppendResult, Need, NewEvent, Position } from '../port.ts'
import { MAX_APPENDS_PER_COMMIT, NO_STREAM } from '../port.ts'
import type { Head, Heads } from './heads.ts'
import { createHeads } from './heads.ts'
import { LIMIT } from './limit.ts'
import type { Answer } from './protocol.ts'
import type { Reader } from './reader.ts'
import { createReader } from './reader.ts'
import { openForWriting, storedVersions, unavailable } from './schema.ts'
import { createRestart } from './wal.ts'

/** The one writer of a log file. Synchronous: it lives in a thread of its own, or in a test. */
export type Writer = {
  /**
   * Commits the group with one fsync, and answers each append by itself, in order: a conflict, an erased stream or an
   * invalid append leaves no row and does not touch its neighbours. Throws LogUnavailable when nothing was written.
   */
  commit(group: readonly AppendRequest[]): Answer[]
  /** Takes the content of a stream out of the tables. It is off the disk only when `scrub` has answered true. */
  erase(stream: string): void
  /** Empties the write-ahead log. False when a reader is in the way: try again. */
  scrub(): boolean
  /** Between commits, when nobody waits: keeps the write-ahead log short. */
  tidy(): void
  /** Types and versions of the events that it held when it was opened. */
  readonly versions: readonly EventVersion[]
  /** Reads on the writer's own connection, outside of commits. */
  readonly reader: Reader
  close(): void
}

/** `file` may be ':memory:'. Throws LogUnavailable when it cannot be opened for writing. */
export function openWriter({ file }: { readonly file: string }): Writer {
  const db = openForWriting(file)
  const heads = createHeads(db)
  const versions = storedVersions(db)
  const noted = createVersionNotes(db)
  const append = appender(db, heads, noted.note)
  const blank = db.prepare(`UPDATE events SET id = '', type = '', body = '', meta = '' WHERE stream_no = ?`)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const end = db.prepare('COMMIT')
  const tidy = createRestart(db)

  function inTransaction<T>(work: () => T): T {
    try {
      begin.run()
      const result = work()
      end.run()
      return result
    } catch (error) {
      heads.forget()
      noted.forget()
      if (db.open && db.inTransaction) db.exec('ROLLBACK')
      throw unavailable(error, file)
    }
  }

  return {
    commit(group) {
      if (group.length > MAX_APPENDS_PER_COMMIT) throw new RangeError('too many appends for one commit')
      return inTransaction(() => group.map(append))
    },
    erase(stream) {
      inTransaction(() => {
        const head = heads.find(stream)
        if (head?.erased) return
        if (head) blank.run(head.no)
        heads.bury(stream, head)
      })
    },
    scrub() {
      try {
        return isEmptied(db.pragma('wal_checkpoint(TRUNCATE)'))
      } catch (error) {
        throw unavailable(error, file)
      }
    },
    tidy,
    versions,
    reader: createReader(db),
    close() {
      // One file to copy after an orderly stop; where a reader is in the way the next start does it.
      try {
        db.pragma('wal_checkpoint(TRUNCATE)')
      } finally {
        db.close()
      }
    }
  }
}

const isEmptied = (answer: unknown): boolean => Array.isArray(answer) && answer[0]?.busy === 0

/** Appends one request inside the open transaction. */
function appender(db: Database, heads: Heads, note: (event: NewEvent) => void): (request: AppendRequest) => Answer {
  const insert = db.prepare(
    'INSERT INTO events (stream_no, revision, hash, id, type, body, meta) VALUES (?, ?, ?, ?, ?, ?, ?)'
  )
  const repeat = repeatFinder(db)
  const first = db.prepare<[number], string>('SELECT id FROM events WHERE stream_no = ? AND revision = 0').pluck()

  function isThere({ stream, eventId }: Need): boolean {
    const head = heads.find(stream)
    return head !== null && !head.erased && (head.firstId ?? first.get(head.no)) === eventId
  }

  return request => {
    const reason = problemOf(request)
    if (reason) return { kind: 'invalid', reason }
    const { stream, expected, events, need, isBulk } = request
    if (need && !isThere(need)) return { kind: 'unavailable', reason: `${need.stream} was not written` }
    const head = heads.find(stream)
    if (head?.erased) return { kind: 'deleted' }
    const newest = head?.revision ?? NO_STREAM
    if (expected < newest && head) return repeat(head, request) ?? { kind: 'conflict', revision: newest }
    if (expected !== newest) return { kind: 'conflict', revision: newest }

    const hashes = chain(head?.hash ?? NO_HASH, stream, newest, events)
    const revision = newest + events.length
    const lastHash = hashes.at(-1) ?? NO_HASH
    const no = head ? head.no : heads.create(stream, revision, lastHash, events[0]?.id ?? '').no
    if (head) heads.move(stream, head, revision, lastHash)
    let position: Position = 0
    for (const [index, event] of events.entries()) {
      const hash = Buffer.from(hashes[index] ?? '', 'hex')
      note(event)
      const row = insert.run(no, newest + 1 + index, hash, event.id, event.type, event.body, event.meta)
      position = Number(row.lastInsertRowid)
    }
    const written = { kind: 'appended', position, revision, repeated: false } as const
    // Of very many nobody remembers the first.
    return head || events.length > 1 || isBulk || isKeyStream(stream)
      ? written
      : { ...written, first: { streamNo: no, hash: lastHash } }
  }
}

/** Keeps the list of types and versions, in the transaction of the events themselves. */
function createVersionNotes(db: Database) {
  const insert = db.prepare('INSERT OR IGNORE INTO event_versions (type, version) VALUES (?, ?)')
  let noted = createVersionSet()
  return {
    note(event: NewEvent): void {
      const version = versionOf(event)
      if (noted.has(version)) return
      insert.run(version.type, version.version)
      noted.add(version)
    },
    /** After a rollback the table may lack what is in memory. */
    forget(): void {
      noted = createVersionSet()
    }
  }
}

function chain(previous: string, stream: string, newest: number, events: readonly NewEvent[]): string[] {
  let hash = previous
  return events.map((event, index) => {
    hash = chainHash(hash, stream, newest + 1 + index, event)
    return hash
  })
}

type Stored = { readonly position: number; readonly revision: number; readonly id: string; readonly hash: string }

/**
 * Recognises an append whose answer was lost: the same ids stand right after `expected`. The chain tells whether their
 * content is the same too, byte for byte.
 */
function repeatFinder(db: Database): (head: Head, request: AppendRequest) => AppendResult | null {
  const select = db.prepare<[number, number, number], Stored>(
    `SELECT position, revision, id, lower(hex(hash)) AS hash FROM events
     WHERE stream_no = ? AND revision >= ? ORDER BY revision ${LIMIT}`
  )
  return (head, { stream, expected, events }) => {
    const rows = select.all(head.no, Math.max(expected, 0), events.length + (expected < 0 ? 0 : 1))
    const previous = expected < 0 ? NO_HASH : rows.shift()?.hash
    const last = rows.at(-1)
    if (!last || previous === undefined || rows.length < events.length) return null
    if (rows.some((row, index) => row.id !== events[index]?.id)) return null
    if (chain(previous, stream, expected, events).at(-1) !== last.hash)
      return { kind: 'invalid', reason: 'an event with this id stands there already, with another content' }
    return { kind: 'appended', position: last.position, revision: last.revision, repeated: true }
  }
}
