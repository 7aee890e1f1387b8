import type { Database } from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { isKeyStream } from '../key-streams.ts'
import type { Position, ReadOptions, RecordedEvent } from '../port.ts'
import { streamFinder } from './heads.ts'
import { LIMIT } from './limit.ts'

export const PAGE_EVENTS = 500
/** Stream numbers that stay in memory, about 150 bytes each. */
const MAX_KNOWN_NUMBERS = 50_000
/** First events of streams that stay in memory, about a kilobyte each: whoever reads a message begins with its first. */
const MAX_KNOWN_FIRSTS = 16_000

/** Everything that is ever read from a log file, on a connection of any thread. Synchronous, a page at a time. */
export type Reader = {
  /** The next events after a position in log order; `to` is how far they reach, erased events included. */
  scan(after: Position, limit: number): { readonly events: RecordedEvent[]; readonly to: Position }
  /** Like `scan`, but empty only at the end of the log. */
  page(after: Position, limit: number): RecordedEvent[]
  /** Hashes in log order, of erased events too. */
  hashes(after: Position, limit: number): HashRow[]
  stream(name: string, options?: ReadOptions): Generator<RecordedEvent[]>
  /** The stream's newest event. */
  newest(name: string): RecordedEvent | null
  at(position: Position): RecordedEvent | null
  head(): Position
  numberOf(name: string): number | null
  /** Of an erased stream, too, it is known that it was there. */
  standing(name: string): 'none' | 'live' | 'erased'
  /** What was just written need not be read. Not for key streams, which can be erased. */
  remember(first: RecordedEvent): void
  /** Forgets the number of an erased stream. */
  forget(name: string): void
}

export type HashRow = { readonly position: Position; readonly stream: string; readonly hash: string }

/** Values in the order of COLUMNS: every event of every page is read, and an object of the driver's costs twice as much. */
type Row = readonly [
  position: Position,
  stream: string | null,
  streamNo: number,
  revision: number,
  id: string,
  type: string,
  body: string,
  meta: string,
  hash: string,
  erased: number | null
]

const COLUMNS = `e.position, s.name, e.stream_no, e.revision, e.id, e.type, e.body, e.meta,
  lower(hex(e.hash)), s.erased FROM events e LEFT JOIN streams s ON s.no = e.stream_no`

export function createReader(db: Database): Reader {
  const select = <Values extends number[]>(rest: string) => db.prepare<Values, Row>(`SELECT ${COLUMNS} ${rest}`).raw()
  const after = select<[number, number]>(`WHERE e.position > ? ORDER BY e.position ${LIMIT}`)
  const one = select<[number]>('WHERE e.position = ?')
  const forwards = select<[number, number, number]>(
    `WHERE e.stream_no = ? AND e.revision >= ? ORDER BY e.revision ${LIMIT}`
  )
  const backwards = select<[number, number, number]>(
    `WHERE e.stream_no = ? AND e.revision <= ? ORDER BY e.revision DESC ${LIMIT}`
  )
  const hashes = db.prepare<[number, number], HashRow>(
    `SELECT e.position, s.name AS stream, lower(hex(e.hash)) AS hash
     FROM events e LEFT JOIN streams s ON s.no = e.stream_no WHERE e.position > ? ORDER BY e.position ${LIMIT}`
  )
  const newest = db.prepare<[], number | null>('SELECT max(position) FROM events').pluck()
  const findStream = streamFinder(db)
  const numbers = new LRUCache<string, number>({ max: MAX_KNOWN_NUMBERS })
  const firsts = new LRUCache<string, RecordedEvent>({ max: MAX_KNOWN_FIRSTS })

  function scan(position: Position, limit: number) {
    const rows = after.all(position, limit)
    return { events: rows.flatMap(recorded), to: rows.at(-1)?.[0] ?? position }
  }

  function page(position: Position, limit: number): RecordedEvent[] {
    for (let from = position; ; ) {
      const { events, to } = scan(from, limit)
      if (events.length > 0 || to === from) return events
      from = to
    }
  }

  function numberOf(name: string): number | null {
    const known = firsts.get(name)?.streamNo ?? numbers.get(name)
    if (known !== undefined) return known
    const found = findStream(name)
    if (!found || found.erased) return null
    numbers.set(name, found.no)
    return found.no
  }

  function standing(name: string): 'none' | 'live' | 'erased' {
    if (numbers.has(name)) return 'live'
    const found = findStream(name)
    return found ? (found.erased ? 'erased' : 'live') : 'none'
  }

  function* stream(name: string, options: ReadOptions = {}): Generator<RecordedEvent[]> {
    const up = options.direction !== 'backwards'
    let from = options.from ?? (up ? 0 : Number.MAX_SAFE_INTEGER)
    let left = options.limit ?? Number.POSITIVE_INFINITY
    const first = up && from === 0 && left > 0 ? firsts.get(name) : undefined
    if (first) {
      yield [first]
      from = 1
      left -= 1
    }
    const no = left > 0 ? numberOf(name) : null
    while (no !== null && left > 0) {
      const rows = (up ? forwards : backwards).all(no, from, Math.min(left, PAGE_EVENTS))
      const last = rows.at(-1)
      if (!last) return
      const events = rows.flatMap(recorded)
      // Key streams can be erased, also by another process: they are read from the file each time.
      if (events[0]?.revision === 0 && !isKeyStream(name)) firsts.set(name, events[0])
      yield events
      if (rows.length < PAGE_EVENTS) return
      left -= rows.length
      from = last[3] + (up ? 1 : -1)
    }
  }

  return {
    scan,
    page,
    hashes: (position, limit) => hashes.all(position, limit),
    stream,
    newest(name) {
      const page = stream(name, { direction: 'backwards', limit: 1 }).next()
      return page.done ? null : (page.value[0] ?? null)
    },
    at(position) {
      const row = one.get(position)
      return row ? (recorded(row)[0] ?? null) : null
    },
    head: () => newest.get() ?? 0,
    numberOf,
    standing,
    remember(first) {
      firsts.set(first.stream, first)
    },
    forget(name) {
      numbers.delete(name)
      firsts.delete(name)
    }
  }
}

/** The event of a row; nothing when its stream was erased. */
function recorded(row: Row): RecordedEvent[] {
  const [position, stream, streamNo, revision, id, type, body, meta, hash, erased] = row
  if (stream === null) throw new Error(`the event log is damaged: event ${position} belongs to no stream`)
  return erased ? [] : [{ position, stream, streamNo, revision, id, type, body, meta, hash }]
}
