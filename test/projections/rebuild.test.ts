import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projections } from '../../src/projections/all.ts'
import { rebuild } from '../../src/projections/rebuild.ts'
import { LOG_ID } from './history.ts'
import { randomHistory } from './random-history.ts'
import { dump, foldLive, indexesOf } from './spec.ts'

const FILLED = [
  'messages',
  'message_hours',
  'provider_failures',
  'failure_heads',
  'queue',
  'deliveries',
  'outbox_cuts',
  'audit',
  'received',
  'provider_ids',
  'contacts',
  'contact_groups',
  'acquaintances',
  'erasures',
  'opt_outs',
  'templates',
  'own_template_languages'
]

t.test('a rebuilt file holds the very rows of one that was folded live, whatever the pages were', async t => {
  const filled = new Set<string>()
  for (const seed of [1, 2, 3]) {
    const history = randomHistory(seed, 1_500)
    const dir = t.testdir({})
    const live = join(dir, 'live.db')
    const small = join(dir, 'small.db')
    const rebuilt = join(dir, 'rebuilt.db')
    await foldLive(live, history)
    await foldLive(small, history, 25)
    const progress: number[] = []
    const done = await rebuild({
      file: rebuilt,
      logId: LOG_ID,
      projections,
      readPage: history.readPage,
      onProgress: ({ events }) => void progress.push(events),
      pageSize: 400
    })
    t.equal(done.events, history.events.length)
    t.equal(progress.at(-1), history.events.length)
    const expected = dump(live)
    t.same(dump(small), expected, `seed ${seed}: pages of 25`)
    t.same(dump(rebuilt), expected, `seed ${seed}: rebuilt`)
    t.same(indexesOf(rebuilt), indexesOf(live))
    for (const table of FILLED) if ((expected[table]?.length ?? 0) > 0) filled.add(table)
  }
  t.same([...filled].sort(), [...FILLED].sort(), 'the histories fill every table')
})

t.test('a rebuild takes the place of an old file, and the runner goes on from there', async t => {
  const history = randomHistory(4, 300)
  const file = join(t.testdir({}), 'views.db')
  await foldLive(file, history)
  const before = dump(file)
  await rebuild({ file, logId: LOG_ID, projections, readPage: history.readPage })
  t.same(dump(file), before)
  t.notOk(existsSync(`${file}.next`))
  history.append('tenant-tn_later', [
    { type: 'TenantCreated', at: '2026-02-01T00:00:00.000Z', data: { tenantId: 'tn_later', name: 'later' } }
  ])
  const pages = await foldLive(file, history)
  t.equal(pages.length, 1, 'only the new event is read')
  t.equal(dump(file).tenants?.length, 1)
})

t.test('a rebuild that fails leaves the old file alone', async t => {
  const history = randomHistory(5, 200)
  const file = join(t.testdir({}), 'views.db')
  await foldLive(file, history)
  const before = dump(file)
  const readPage = (after: number, limit: number) => {
    if (after > 0) throw new Error('the log cannot be read')
    return history.readPage(after, limit)
  }
  await t.rejects(rebuild({ file, logId: LOG_ID, projections, readPage, pageSize: 50 }), /cannot be read/)
  t.same(dump(file), before)
  t.notOk(existsSync(`${file}.next`))
})
