/** Erased means: in no file any more. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { openSqliteLogReadOnly } from '../../src/log/sqlite/home.ts'
import { verifyDataDir } from '../../src/log/sqlite/verify-data-dir.ts'
import { event, openThreadedLog, temporaryDirectory } from '../support/log.ts'

const STREAMS = 120

/** The streams whose names or contents stand in any file of the directory. */
function found(dataDir: string): { names: number[]; contents: number[] } {
  const bytes = readdirSync(dataDir).map(name => readFileSync(join(dataDir, name), 'latin1'))
  const having = (marker: (index: number) => string) =>
    Array.from({ length: STREAMS }, (_, index) => index).filter(index =>
      bytes.some(text => text.includes(marker(index)))
    )
  return { names: having(index => `keys-stream-${index}-`), contents: having(index => `secret-${index}-`) }
}

t.test('after an erasure no file holds the content or the name', async t => {
  const dataDir = temporaryDirectory(t)
  const log = await openThreadedLog(t, { dataDir })
  const name = (index: number) => `keys-stream-${index}-`
  for (let index = 0; index < STREAMS; index++) {
    const secret = `secret-${index}-${'z'.repeat((index * 97) % 9_000)}`
    await log.append(name(index), -1, [event(`k${index}`, secret), event(`l${index}`, secret)])
    await log.append('s-other', index - 1, [event(`o${index}`)])
  }
  const erased = Array.from({ length: STREAMS }, (_, index) => index).filter(index => index % 3 !== 0)
  await Promise.all(erased.map(index => log.erase(name(index))))
  const kept = Array.from({ length: STREAMS }, (_, index) => index).filter(index => index % 3 === 0)
  t.same(found(dataDir), { names: kept, contents: kept })
  t.match(await verifyDataDir(dataDir), { ok: true, withoutContent: erased.length * 2 })
})

t.test('an erasure waits for a reader that still sees the old content', async t => {
  const dataDir = temporaryDirectory(t)
  const log = await openThreadedLog(t, { dataDir })
  await log.append('keys-stream-1-', -1, [event('k', 'secret-1-')])
  const reader = new Database(join(dataDir, 'log.db'), { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM events').get()
  let done = false
  const erasing = log.erase('keys-stream-1-').then(() => {
    done = true
  })
  t.match(await log.append('s-1', -1, [event('a')]), { kind: 'appended' }, 'appends go on meanwhile')
  t.notOk(done)
  reader.close()
  await erasing
  t.same(found(dataDir), { names: [], contents: [] })
})

t.test('another program reads beside the service, and follows it', async t => {
  const dataDir = temporaryDirectory(t)
  const log = await openThreadedLog(t, { dataDir })
  await log.append('s-1', -1, [event('a')])
  const reader = openSqliteLogReadOnly({ dataDir })
  t.teardown(() => reader.close())
  t.equal(await reader.head(), 1)
  await t.rejects(reader.append('s-1', 0, [event('b')]), { name: 'LogUnavailable' })
  const heard = new Promise<string>(resolve => {
    reader.follow(1, ([first]) => resolve(first?.id ?? ''))
  })
  await log.append('s-1', 0, [event('b')])
  t.equal(await heard, 'evt_b')
})
