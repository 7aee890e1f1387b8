/** Write-ahead logs: copied by a thread that nobody waits for, begun anew by their writer, and short at all times. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { createRestart, openCopier, useWal } from '../../src/log/sqlite/wal.ts'
import { openWriter } from '../../src/log/sqlite/writer.ts'
import { openViewsFile } from '../../src/projections/views-file.ts'
import { startWalThread } from '../../src/service/wal-host.ts'
import { eventually } from '../support/eventually.ts'
import { event, temporaryDirectory } from '../support/log.ts'

type Scope = Pick<typeof t, 'teardown' | 'equal' | 'ok'>

const PAGE = 4_096
/** What one write of `written` puts into the write-ahead log, but for a page or two. */
const CHUNK_PAGES = 250
/** Pages after which the writer begins anew (`src/log/sqlite/wal.ts`). */
const LONG = 16_000
const CHUNKS_UNTIL_LONG = LONG / CHUNK_PAGES

function written(t: Scope) {
  const file = join(temporaryDirectory(t), 'any.db')
  const db = new Database(file)
  t.teardown(() => void db.close())
  useWal(db)
  db.exec('CREATE TABLE chunks (no INTEGER PRIMARY KEY, bytes BLOB NOT NULL)')
  const insert = db.prepare('INSERT INTO chunks (bytes) VALUES (zeroblob(?))')
  return {
    file,
    db,
    write: () => void insert.run(CHUNK_PAGES * PAGE),
    frames: () => db.prepare('PRAGMA wal_checkpoint(NOOP)').get() as { log: number; checkpointed: number }
  }
}

const nobody = { debug() {}, info() {}, warn() {}, error() {} }

t.test('what is copied is worth a sync', async t => {
  const { file, write, frames } = written(t)
  const copier = openCopier(file)
  t.teardown(copier.close)
  write()
  copier.copy()
  t.equal(frames().checkpointed, 0)
  for (let chunk = 0; chunk < 8; chunk++) write()
  copier.copy()
  t.equal(frames().checkpointed, frames().log)
})

/** Just long enough, and all but the last chunk copied; a reader has kept SQLite from beginning anew by itself. */
function longAndCopied(t: Scope) {
  const wal = written(t)
  wal.db.pragma('busy_timeout = 5')
  for (let chunk = 0; chunk < CHUNKS_UNTIL_LONG - 1; chunk++) wal.write()
  const copier = openCopier(wal.file)
  const reader = new Database(wal.file, { readonly: true })
  t.teardown(() => {
    copier.close()
    reader.close()
  })
  const chunks = reader.prepare('SELECT count(*) FROM chunks').pluck()
  reader.exec('BEGIN')
  chunks.get()
  copier.copy()
  t.equal(wal.frames().checkpointed, wal.frames().log, 'all was copied')
  wal.write()
  t.ok(wal.frames().log >= LONG, `it is ${wal.frames().log} pages long`)
  return { ...wal, copier, reader, chunks }
}

t.test('the writer begins anew when it is long and nearly all of it is copied', async t => {
  const { db, write, frames, reader, chunks } = longAndCopied(t)
  reader.exec('COMMIT')
  createRestart(db)()
  write()
  t.ok(frames().log < LONG / 2, `${frames().log} pages`)
  t.equal(chunks.get(), CHUNKS_UNTIL_LONG + 1)
})

t.test('what the largest commit writes is little enough for that', async t => {
  const { db, write, frames, reader } = longAndCopied(t)
  reader.exec('COMMIT')
  for (let chunk = 0; chunk < 2; chunk++) write()
  createRestart(db)()
  write()
  t.ok(frames().log < LONG / 2, `${frames().log} pages`)
})

t.test('a reader in the way delays it and sees what it saw; when it has left, the next try succeeds', async t => {
  const { db, write, frames, copier, reader, chunks } = longAndCopied(t)
  const restart = createRestart(db)
  restart()
  write()
  t.ok(frames().log > LONG, 'it grows on')
  t.equal(chunks.get(), CHUNKS_UNTIL_LONG - 1)
  reader.exec('COMMIT')
  for (let chunk = 0; chunk < 4; chunk++) write()
  reader.exec('BEGIN')
  chunks.get()
  copier.copy()
  write()
  reader.exec('COMMIT')
  restart()
  write()
  t.ok(frames().log < LONG / 2, `${frames().log} pages`)
  t.equal(chunks.get(), CHUNKS_UNTIL_LONG + 7)
})

t.test('where nobody copies, a commit does when it is very long', async t => {
  const { db, write, frames } = written(t)
  const restart = createRestart(db)
  for (let chunk = 0; chunk < 140; chunk++) {
    write()
    restart()
  }
  t.ok(frames().log < 34_000)
})

t.test('the thread copies while the writer goes on, and an erasure gets its turn', async t => {
  const dataDir = temporaryDirectory(t)
  const file = join(dataDir, 'log.db')
  const writer = openWriter({ file })
  t.teardown(() => writer.close())
  const views = join(dataDir, 'views.db')
  openViewsFile(views, 'log-1').close()
  let revision = -1
  const commit = (): void => {
    const events = Array.from({ length: 10 }, (_, index) => event(`e${revision + index}`, 'x'.repeat(20_000)))
    writer.commit([{ stream: 's-1', expected: revision, events }])
    revision += events.length
  }
  const look = new Database(file, { readonly: true })
  t.teardown(() => void look.close())
  const copied = () => look.prepare('PRAGMA wal_checkpoint(NOOP)').get() as { log: number; checkpointed: number }
  for (let group = 0; group < 90; group++) commit()
  t.ok(copied().log > 4_000)
  const told: unknown[] = []
  const tell = (fields: object, message: string): void => void told.push({ ...fields, message })
  const wal = startWalThread({ files: [file, views] }, { ...nobody, warn: tell, error: tell })
  for (let group = 0; group < 60; group++) commit()
  await eventually('the thread has copied', () => copied().log - copied().checkpointed < 2_000, {
    seen: () => [copied(), told]
  })

  writer.erase('s-1')
  await eventually('the write-ahead log is empty', () => writer.scrub())
  t.equal(statSync(`${file}-wal`).size, 0)
  await wal.stop()
  t.same(writer.commit([{ stream: 's-2', expected: -1, events: [event('after')] }])[0]?.kind, 'appended')
})

t.test('a thread that cannot work says so, tries again, and ends when it is told to', async t => {
  const told: unknown[] = []
  const logger = { ...nobody, warn: (fields: object, message: string) => void told.push({ ...fields, message }) }
  const wal = startWalThread({ files: [join(temporaryDirectory(t), 'missing.db')] }, logger)
  await eventually('it has said so', () => told.length > 0)
  t.match(told, [{ reason: /unable to open/, message: 'a write-ahead log was not copied and is tried again' }])
  await wal.stop()
})
