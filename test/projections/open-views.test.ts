import { join } from 'node:path'
import t from 'tap'
import { projections } from '../../src/projections/all.ts'
import { openViews } from '../../src/projections/open-views.ts'
import type { PageDone } from '../../src/projections/port.ts'
import { createRunner } from '../../src/projections/runner.ts'
import { at, createHistory, idOf, LOG_ID, TENANT } from './history.ts'
import { viewsOf } from './spec.ts'

t.test('a reader waits until the views have passed a position', async t => {
  const history = createHistory()
  const add = (name: string) =>
    history.append(`tenant-${name}`, [{ type: 'TenantCreated', at: at(1), data: { tenantId: name, name } }])
  const file = join(t.testdir({}), 'views.db')
  let report: (done: PageDone) => void = () => undefined
  const options = { file, logId: LOG_ID, projections, readPage: history.readPage }
  const runner = createRunner({ ...options, onPage: done => report(done) })
  const views = openViews({ file, messageNoOf: history.messageNoOf })
  report = views.pageDone

  t.equal(await views.caughtUp(0), true)
  add('tn_first')
  const waiting = views.caughtUp(1, 30_000)
  await runner.advance()
  t.equal(await waiting, true)
  t.equal(views.tenantByName('tn_first'), 'tn_first', 'the row is there when the waiter wakes')
  t.equal(views.position(), 1)

  t.equal(await views.caughtUp(2, 1), false, 'nothing came in time')
  const closing = views.caughtUp(2, 30_000)
  views.close()
  t.equal(await closing, false)
  runner.close()
})

t.test('listeners hear who was touched', async t => {
  const history = createHistory()
  const channelId = idOf('ch', 'one')
  const contactId = idOf('ct', 'one')
  const destinationId = idOf('whd', 'one')
  const creation = { channelId, tenantId: TENANT, kind: 'official', label: null, number: null, source: 'connect' }
  const file = join(t.testdir({}), 'views.db')
  const options = { file, logId: LOG_ID, projections, readPage: history.readPage }
  const runner = createRunner({ ...options, onPage: done => views.pageDone(done) })
  let closed = 0
  const views = openViews({ file, messageNoOf: history.messageNoOf, onClose: () => void closed++ })
  const heard: PageDone[] = []
  views.onPage(page => void heard.push(page))
  history.append('claim-one', [{ type: 'NumberClaimed', at: at(0), data: { creation } }])
  history.append(`destination-${destinationId}`, [
    {
      type: 'DestinationCreated',
      at: at(1),
      data: { destinationId, tenantId: TENANT, url: 'https://a.example', secretLast4: 'a' }
    }
  ])
  history.append(`channel-${channelId}`, [{ type: 'ChannelConnected', at: at(1), data: creation }])
  const data = { messageId: idOf('msg', 'one'), tenantId: TENANT, channelId, contactId, contentKind: 'text' }
  history.append(`message-${data.messageId}`, [{ type: 'MessageQueued', at: at(2), data }])
  await runner.advance()
  t.same(heard, [
    {
      position: 4,
      touched: {
        todo: ['finish_number'],
        channel: [channelId],
        destination: [destinationId],
        outbox: [destinationId],
        queue: [channelId]
      }
    }
  ])
  runner.close()
  views.close()
  t.equal(closed, 1)
})

t.test('the status names each projection with its version and position', async t => {
  const history = createHistory()
  history.append(`tenant-${TENANT}`, [{ type: 'TenantCreated', at: at(0), data: { tenantId: TENANT, name: 'acme' } }])
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  const expected = projections.map(({ name, version }) => ({ name, version, position: 1 }))
  t.same(
    views.status(),
    expected.sort((one, other) => (one.name < other.name ? -1 : 1))
  )
  views.close()
})

t.test('two provider ids whose hashes collide are told apart', async t => {
  const { noteProviderId, hashOf, providerIds } = await import('../../src/projections/views/provider-ids.ts')
  const stored = new Map<number, number>([[hashOf(7, 'index'), 1]])
  const rows = {
    get: (_table: unknown, [hash]: readonly (string | number)[]) => {
      const messageNo = stored.get(Number(hash))
      return (messageNo === undefined ? undefined : { hash, messageNo }) as never
    },
    put: (_table: unknown, row: Record<string, unknown>) => void stored.set(Number(row.hash), Number(row.messageNo)),
    delete: () => t.fail('nothing is deleted')
  }
  noteProviderId(rows, 7, 'index', 2)
  noteProviderId(rows, 7, 'index', 2)
  t.same([...stored.values()], [1, 2], 'the next place, once')
  t.equal(providerIds.keyLength, 1)
})
