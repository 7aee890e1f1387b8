import type { Database } from 'better-sqlite3'
import { sha256 } from '../hash-chain.ts'
import type { Position } from '../port.ts'
import type { FoundEvent, FoundStream, VerifySource } from '../verify-source.ts'
import { nameKey, streamFinder } from './heads.ts'
import { LIMIT } from './limit.ts'
import { PAGE_EVENTS } from './reader.ts'
import { logFile, openForReading } from './schema.ts'

type EventRow = Omit<FoundEvent, 'content'> & {
  readonly stream: string | null
  readonly erased: number | null
  readonly id: string
  readonly type: string
  readonly body: string
  readonly meta: string
}
type StreamRow = { no: number; name: string; key: number; revision: number; hash: string; erased: number }

/** One changed bit of the file makes a text of a blob, with the same bytes: no hash of ours. */
const hexOf = (column: string): string =>
  `CASE typeof(${column}) WHEN 'blob' THEN lower(hex(${column})) ELSE '' END AS hash`
const EVENTS = `SELECT e.position, e.stream_no AS streamNo, e.revision, ${hexOf('e.hash')}, e.id, e.type, e.body,
  e.meta, s.name AS stream, s.erased FROM events e LEFT JOIN streams s ON s.no = e.stream_no`
const STREAMS = `SELECT no, name, key, revision, ${hexOf('head_hash')}, erased FROM streams`

/** The embedded log of a DATA_DIR, opened read-only. Throws LogUnavailable when there is none or it cannot be opened. */
export function openVerifySource(dataDir: string): VerifySource {
  const db = openForReading(logFile(dataDir))
  return {
    dense: true,
    anchorsCoverKeys: true,
    highest: () => db.prepare<[], number>(`SELECT seq FROM sqlite_sequence WHERE name = 'events'`).pluck().get() ?? 0,
    events: (after, stream) => (stream === undefined ? inLogOrder(db, after) : ofStream(db, stream)),
    streams: stream => books(db, stream),
    freeze() {
      // A read transaction begins with its first read.
      db.exec('BEGIN')
      db.prepare('SELECT count(*) FROM log').get()
    },
    complaints: () => integrity(db),
    close: () => void db.close()
  }
}

async function* inLogOrder(db: Database, after: Position): AsyncGenerator<FoundEvent[]> {
  const select = db.prepare<[number, number], EventRow>(`${EVENTS} WHERE e.position > ? ORDER BY e.position ${LIMIT}`)
  for (let position = after; ; ) {
    const rows = upToDamage(limit => select.all(position, limit))
    if (rows.length === 0) return
    yield rows.map(found)
    position = further(position, rows.at(-1)?.position)
    await new Promise(setImmediate)
  }
}

async function* ofStream(db: Database, stream: string): AsyncGenerator<FoundEvent[]> {
  const no = streamFinder(db)(stream)?.no
  const select = db.prepare<[number, number, number], EventRow>(
    `${EVENTS} WHERE e.stream_no = ? AND e.revision >= ? ORDER BY e.revision ${LIMIT}`
  )
  for (let from = 0; no !== undefined; ) {
    const rows = upToDamage(limit => select.all(no, from, limit))
    if (rows.length === 0) return
    yield rows.map(found)
    from = further(from - 1, rows.at(-1)?.revision) + 1
    await new Promise(setImmediate)
  }
}

/** A damaged file may send a reader in a circle. */
function further(before: number, after: number | undefined): number {
  if (after !== undefined && after > before) return after
  throw new Error('the order of the file is broken')
}

/** A page with a damaged place in it is read event by event, so that the damage is found where it is. */
function upToDamage(read: (limit: number) => EventRow[]): EventRow[] {
  try {
    return read(PAGE_EVENTS)
  } catch {
    return read(1)
  }
}

function found({ stream, erased, id, type, body, meta, ...rest }: EventRow): FoundEvent {
  const isBlank = id === '' && type === '' && body === '' && meta === ''
  // An erased stream keeps its hashes only; content that stands there all the same is checked, and does not fit.
  if (erased && isBlank) return { ...rest, content: null }
  return { ...rest, content: { stream: stream ?? '', id, type, body, meta } }
}

function* books(db: Database, stream?: string): Generator<FoundStream[]> {
  const only = stream === undefined ? null : streamFinder(db)(stream)?.no
  if (only === undefined) return
  const select = db.prepare<[number, number], StreamRow>(`${STREAMS} WHERE no > ? ORDER BY no ${LIMIT}`)
  for (let after = only === null ? Number.MIN_SAFE_INTEGER : only - 1; ; ) {
    const rows = select.all(after, only === null ? PAGE_EVENTS : 1)
    if (rows.length === 0) return
    yield rows.map(booked)
    if (only !== null) return
    after = further(after, rows.at(-1)?.no)
  }
}

function booked({ no, name, key, revision, hash, erased }: StreamRow): FoundStream {
  const digest = erased ? name : sha256(String(name))
  // A wrong key hides the stream from whoever asks for it by name.
  if (nameKey(String(digest)) !== key) throw new Error(`stream number ${no} cannot be found by its name`)
  return { no, name: erased ? null : name, revision, hash }
}

function integrity(db: Database): string[] {
  const rows = db.pragma('integrity_check')
  if (!Array.isArray(rows)) return []
  return rows.map(row => String(row.integrity_check)).filter(text => text !== 'ok')
}
