import type { Database } from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { NO_HASH, sha256 } from '../hash-chain.ts'

/** Where a stream ends. */
export type Head = {
  readonly no: number
  readonly revision: number
  /** Hash of the newest event, lower-case hex. */
  readonly hash: string
  readonly erased: boolean
  /** Id of its first event, while that is fresh in memory. */
  readonly firstId?: string | undefined
}

/** Streams whose ends stay in memory, about 300 bytes each. */
const MAX_HOT_STREAMS = 50_000

/** The `streams` rows, with the hot ones in memory so that an append to them needs no select. */
export type Heads = {
  find(stream: string): Head | null
  /** Inserts the row of a stream whose first events end at `revision`. */
  create(stream: string, revision: number, hash: string, firstId: string): Head
  move(stream: string, head: Head, revision: number, hash: string): void
  /** Marks the stream as erased, existing or not, and takes its name out of the row. */
  bury(stream: string, head: Head | null): void
  /** Forgets what is in memory: after a rollback it may be ahead of the file. */
  forget(): void
}

type Row = { no: number; name: string; revision: number; hash: string; erased: number }

/** 48 bits of the name's SHA-256: the streams are found by it, and the names are compared. */
export const nameKey = (digest: string): number => Number.parseInt(digest.slice(0, 12), 16)

/** SHA-256 of a name. A stream is looked for and begun in one go, so the last one is asked for twice. */
function createDigests(): (stream: string) => string {
  let last = { stream: '', digest: '' }
  return stream => {
    if (last.stream !== stream) last = { stream, digest: sha256(stream) }
    return last.digest
  }
}

/** The row of a stream, erased or not: an erased one keeps the digest of its name only. */
export function streamFinder(db: Database, digestOf = sha256): (stream: string) => Head | null {
  const select = db.prepare<[number], Row>(
    'SELECT no, name, revision, lower(hex(head_hash)) AS hash, erased FROM streams WHERE key = ?'
  )
  return stream => {
    const digest = digestOf(stream)
    const isOurs = ({ name, erased }: Row): boolean => name === (erased ? digest : stream)
    const first = select.get(nameKey(digest))
    // Two names with one key are rare: 48 bits.
    const row = !first || isOurs(first) ? first : select.all(nameKey(digest)).find(isOurs)
    return row ? { no: row.no, revision: row.revision, hash: row.hash, erased: row.erased === 1 } : null
  }
}

export function createHeads(db: Database): Heads {
  const hot = new LRUCache<string, Head>({ max: MAX_HOT_STREAMS })
  const digestOf = createDigests()
  const select = streamFinder(db, digestOf)
  const insert = db.prepare('INSERT INTO streams (name, key, revision, head_hash, erased) VALUES (?, ?, ?, ?, ?)')
  const update = db.prepare('UPDATE streams SET revision = ?, head_hash = ? WHERE no = ?')
  const erase = db.prepare('UPDATE streams SET name = ?, erased = 1 WHERE no = ?')

  function find(stream: string): Head | null {
    const known = hot.get(stream)
    if (known) return known
    const head = select(stream)
    if (head) hot.set(stream, head)
    return head
  }

  function create(stream: string, revision: number, hash: string, firstId: string): Head {
    const { lastInsertRowid } = insert.run(stream, nameKey(digestOf(stream)), revision, Buffer.from(hash, 'hex'), 0)
    const head = { no: Number(lastInsertRowid), revision, hash, erased: false, firstId }
    hot.set(stream, head)
    return head
  }

  function move(stream: string, head: Head, revision: number, hash: string): void {
    update.run(revision, Buffer.from(hash, 'hex'), head.no)
    hot.set(stream, { no: head.no, revision, hash, erased: false, firstId: head.firstId })
  }

  function bury(stream: string, head: Head | null): void {
    const digest = sha256(stream)
    if (head) erase.run(digest, head.no)
    else insert.run(digest, nameKey(digest), -1, Buffer.from(NO_HASH, 'hex'), 1)
    hot.delete(stream)
  }

  return { find, create, move, bury, forget: () => hot.clear() }
}
