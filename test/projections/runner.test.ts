import { join } from 'node:path'
import t from 'tap'
import { projections } from '../../src/projections/all.ts'
import type { PageDone, Projection } from '../../src/projections/port.ts'
import { createRunner } from '../../src/projections/runner.ts'
import { at, createHistory, LOG_ID } from './history.ts'
import { randomHistory } from './random-history.ts'
import { dump, foldLive } from './spec.ts'

const ignore = () => undefined

t.test('a crash between pages loses nothing and repeats nothing', async t => {
  const history = randomHistory(11, 800)
  const dir = t.testdir({})
  const file = join(dir, 'crashed.db')
  const middle = Math.floor(history.events.length / 2)
  let pages = 0
  const dying: Projection = {
    name: 'dying',
    version: 1,
    tables: [],
    handles: ['MessageQueued'],
    apply(event) {
      if (event.position > middle) throw new Error('power cut')
    }
  }
  const runner = createRunner({
    file,
    logId: LOG_ID,
    projections: [...projections, dying],
    readPage: history.readPage,
    onPage: () => void pages++,
    pageSize: 64
  })
  await t.rejects(runner.advance(), /power cut/)
  const reached = runner.position()
  runner.close()
  t.ok(pages > 1 && reached > middle - 64 && reached < middle + 64, 'the page that broke is not committed')
  t.equal(reached, dump(file).checkpoints?.map(row => (row as { position: number }).position)[0])

  const whole = join(dir, 'whole.db')
  await foldLive(file, history)
  await foldLive(whole, history)
  t.same(dump(file), dump(whole))
})

t.test('a new version of one projection is filled anew, and the others stay where they are', async t => {
  const history = createHistory()
  for (let index = 0; index < 40; index++)
    history.append(`tenant-tn_${index}`, [
      { type: 'TenantCreated', at: at(index), data: { tenantId: `tn_${index}`, name: `${index}` } }
    ])
  const file = join(t.testdir({}), 'views.db')
  const seen: Record<string, number[]> = { counting: [], standing: [] }
  const counter = (name: string, version: number): Projection => {
    const table = {
      name: `rows_${name}_${version}`,
      columns: { position: 'INTEGER' },
      keyLength: 1,
      indexes: []
    } as const
    return {
      name,
      version,
      tables: [table],
      handles: ['TenantCreated'],
      apply(event, rows) {
        seen[name]?.push(event.position)
        rows.put(table, { position: event.position })
      }
    }
  }
  async function run(version: number): Promise<void> {
    const options = { file, logId: LOG_ID, readPage: history.readPage, onPage: ignore }
    const runner = createRunner({ ...options, projections: [counter('counting', version), counter('standing', 1)] })
    await runner.advance()
    t.equal(runner.position(), history.events.length)
    runner.close()
  }
  await run(1)
  history.append('tenant-tn_new', [{ type: 'TenantCreated', at: at(50), data: { tenantId: 'tn_new', name: 'new' } }])
  await run(2)
  t.equal(seen.counting?.length, 40 + 41, 'read again from the start')
  t.same(
    seen.standing,
    Array.from({ length: 41 }, (_, index) => index + 1),
    'each event once'
  )
})

t.test('views of another log are thrown away', async t => {
  const history = randomHistory(12, 50)
  const other = createHistory()
  const file = join(t.testdir({}), 'views.db')
  await foldLive(file, history)
  const runner = createRunner({ file, logId: 'another log', projections, readPage: other.readPage, onPage: ignore })
  t.equal(runner.position(), 0)
  runner.close()
  t.same(dump(file).messages, [])
})

t.test('an advance during a turn is not lost, and each page is told once committed', async t => {
  const history = createHistory()
  const add = (name: string) =>
    history.append(`tenant-${name}`, [{ type: 'TenantCreated', at: at(1), data: { tenantId: name, name } }])
  const pages: PageDone[] = []
  const runner = createRunner({
    file: join(t.testdir({}), 'views.db'),
    logId: LOG_ID,
    projections,
    // An asynchronous source: the second event arrives while the first is on its way.
    async readPage(after, limit) {
      const page = history.readPage(after, limit)
      if (page.length === 0 && history.events.length === 1) {
        add('tn_second')
        void runner.advance()
      }
      return page
    },
    onPage: done => void pages.push(done)
  })
  add('tn_first')
  await runner.advance()
  t.same(
    pages.map(page => page.position),
    [1, 2]
  )
  add('tn_third')
  await runner.advance()
  t.equal(runner.position(), 3)
  runner.close()
})

t.test('the length of a turn bounds a page', async t => {
  const history = randomHistory(13, 5_000)
  let clock = 0
  const sizes: number[] = []
  let last = 0
  const runner = createRunner({
    file: join(t.testdir({}), 'views.db'),
    logId: LOG_ID,
    projections,
    readPage: history.readPage,
    onPage({ position }) {
      sizes.push(position - last)
      last = position
    },
    // Each look at the clock costs 60 ms: every page is far too slow.
    now() {
      clock += 60
      return clock
    }
  })
  await runner.advance()
  runner.close()
  t.ok((sizes[0] ?? 0) > 100)
  t.ok(
    sizes.slice(-5, -1).every(size => size <= 50),
    'pages shrink'
  )
})
