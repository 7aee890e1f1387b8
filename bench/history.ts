/** Commit throughput of the log and rebuild of the views, on a made-up history of whole loops, in a process of its own. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chainHash, NO_HASH, sha256 } from '../src/log/hash-chain.ts'
import { nameKey } from '../src/log/sqlite/heads.ts'
import { readLogId } from '../src/log/sqlite/log-id.ts'
import { createReader } from '../src/log/sqlite/reader.ts'
import { logFile, openForReading, openForWriting } from '../src/log/sqlite/schema.ts'
import { openWriter } from '../src/log/sqlite/writer.ts'
import { projections } from '../src/projections/all.ts'
import { rebuild } from '../src/projections/rebuild.ts'
import { type Commit, loopHistory } from './loop-history.ts'
import { obey } from './program.ts'

export type HistoryOrder =
  /** Writes a history into a new DATA_DIR; answers events per second of commits. */
  | { readonly kind: 'write'; readonly dataDir: string; readonly messages: number; readonly webhooks: boolean }
  /** The same rows without the writer: no heads, no expected revisions, no repeats recognised. */
  | { readonly kind: 'insert'; readonly dataDir: string; readonly messages: number; readonly webhooks: boolean }
  /** Fills all views anew; answers events per second. */
  | { readonly kind: 'rebuild'; readonly dataDir: string }
  /** Reads all events and parses them; answers events per second. */
  | { readonly kind: 'scan'; readonly dataDir: string }

const PAGE_EVENTS = 5_000

function write(dataDir: string, history: Iterable<Commit>): number {
  mkdirSync(dataDir, { recursive: true })
  const writer = openWriter({ file: logFile(dataDir) })
  const rate = timed(history, commit => {
    for (const answer of writer.commit(commit))
      if (answer.kind !== 'appended') throw new Error(`an append was answered ${answer.kind}`)
  })
  writer.close()
  return rate
}

function insert(dataDir: string, history: Iterable<Commit>): number {
  mkdirSync(dataDir, { recursive: true })
  const db = openForWriting(logFile(dataDir))
  const create = db.prepare('INSERT INTO streams (name, key, revision, head_hash, erased) VALUES (?, ?, ?, ?, ?)')
  const move = db.prepare('UPDATE streams SET revision = ?, head_hash = ? WHERE no = ?')
  const add = db.prepare(
    'INSERT INTO events (stream_no, revision, hash, id, type, body, meta) VALUES (?, ?, ?, ?, ?, ?, ?)'
  )
  const known = new Map<string, { readonly no: number | bigint; readonly hash: string }>()
  const commitAll = db.transaction((commit: Commit) => {
    for (const { stream, expected, events } of commit)
      for (const event of events) {
        const head = known.get(stream)
        const revision = expected + 1
        const hash = chainHash(head?.hash ?? NO_HASH, stream, revision, event)
        const bytes = Buffer.from(hash, 'hex')
        const no = head?.no ?? create.run(stream, nameKey(sha256(stream)), revision, bytes, 0).lastInsertRowid
        if (head) move.run(revision, bytes, no)
        known.set(stream, { no, hash })
        add.run(no, revision, bytes, event.id, event.type, event.body, event.meta)
      }
  })
  const rate = timed(history, commitAll)
  db.close()
  return rate
}

/** Events per second of `work` alone: making up the history is not counted. */
function timed(history: Iterable<Commit>, work: (commit: Commit) => void): number {
  let events = 0
  let spentMs = 0
  for (const commit of history) {
    const began = performance.now()
    work(commit)
    spentMs += performance.now() - began
    for (const append of commit) events += append.events.length
  }
  return (events * 1000) / spentMs
}

async function rebuildViews(dataDir: string): Promise<number> {
  const db = openForReading(logFile(dataDir))
  const { page } = createReader(db)
  const began = performance.now()
  const { events } = await rebuild({
    file: join(dataDir, 'views.db'),
    logId: readLogId(dataDir),
    projections,
    readPage: page
  })
  const rate = (events * 1000) / (performance.now() - began)
  db.close()
  return rate
}

function scan(dataDir: string): number {
  const db = openForReading(logFile(dataDir))
  const select = db.prepare<[number, number], { position: number; body: string; meta: string }>(
    'SELECT position, stream_no, revision, id, type, body, meta FROM events WHERE position > ? ORDER BY position LIMIT ?'
  )
  let events = 0
  let parsed: unknown
  const began = performance.now()
  for (let page = select.all(0, PAGE_EVENTS); page.length > 0; ) {
    for (const { body, meta } of page) parsed = [JSON.parse(body), JSON.parse(meta)]
    events += page.length
    page = select.all(page.at(-1)?.position ?? 0, PAGE_EVENTS)
  }
  const rate = (events * 1000) / (performance.now() - began)
  db.close()
  if (parsed === undefined) throw new Error('there was nothing to scan')
  return rate
}

obey<HistoryOrder>(async order => {
  switch (order.kind) {
    case 'write':
      return write(order.dataDir, loopHistory(order.messages, order.webhooks))
    case 'insert':
      return insert(order.dataDir, loopHistory(order.messages, order.webhooks))
    case 'rebuild':
      return rebuildViews(order.dataDir)
    case 'scan':
      return scan(order.dataDir)
  }
})
