import { join } from 'node:path'
import t from 'tap'
import type { Event } from '../../src/domain/event.ts'
import { ALL_SHARDS } from '../../src/domain/shards.ts'
import { at, createHistory, type History, idOf, TENANT } from './history.ts'
import { viewsOf } from './spec.ts'

const CHANNEL = idOf('ch', 'one')
const OTHER = idOf('ch', 'two')

function queue(history: History, name: string, second: number, channelId = CHANNEL, expiresAt?: string): void {
  const data = {
    messageId: idOf('msg', name),
    tenantId: TENANT,
    channelId,
    contactId: idOf('ct', name),
    contentKind: 'text',
    ...(expiresAt === undefined ? {} : { expiresAt })
  }
  append(history, name, { type: 'MessageQueued', at: at(second), data })
}
const append = (history: History, name: string, ...events: readonly Event[]) =>
  history.append(`message-${idOf('msg', name)}`, events)
const started = (second: number): Event => ({
  type: 'MessageDispatchStarted',
  at: at(second),
  data: { attempt: 1, dispatchId: 'd' }
})
const retry = (second: number, retryAt: string, more = {}): Event => ({
  type: 'MessageRetryScheduled',
  at: at(second),
  data: { attempt: 1, code: 'busy', retryAt, ...more }
})

t.test('queued messages in admission order, page by page; retries when they are due', async t => {
  const history = createHistory()
  for (const [index, name] of ['a', 'b', 'c', 'd', 'e', 'f'].entries()) queue(history, name, index)
  queue(history, 'elsewhere', 6, OTHER)
  append(history, 'b', started(10), retry(11, at(40)))
  append(history, 'a', started(10), retry(11, at(50), { channelTrouble: true }))
  append(history, 'c', started(12))
  append(history, 'e', started(12), { type: 'MessageSent', at: at(13), data: { attempt: 1, by: 'answer' } })
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  const ids = (...names: readonly string[]) => names.map(name => idOf('msg', name))

  const first = views.queuedAfter(CHANNEL, 0, 1)
  t.same(
    first.map(row => row.messageId),
    ids('d')
  )
  t.same(
    views.queuedAfter(CHANNEL, first[0]?.position ?? 0, 10).map(row => row.messageId),
    ids('f')
  )
  t.same(views.dueRetries(CHANNEL, at(39), 10), [])
  t.same(
    views.dueRetries(CHANNEL, at(50), 10).map(row => row.messageId),
    ids('a', 'b'),
    'in admission order'
  )
  t.equal(views.nextRetryDue(CHANNEL), at(40))
  t.equal(views.nextRetryDue(OTHER), null)
  t.same(
    views.queued(CHANNEL, 'retrying', 10).map(row => [row.messageId, row.attempts]),
    [
      [idOf('msg', 'a'), 0],
      [idOf('msg', 'b'), 1]
    ]
  )
  t.same(
    views.dispatching().map(row => row.messageId),
    ids('c')
  )
  t.ok(views.hasInDoubt(CHANNEL))
  t.notOk(views.hasInDoubt(OTHER))
  t.same(views.channelsWithWork(), [CHANNEL, OTHER].sort())
  t.same(views.queueDepth(CHANNEL), { depth: 4, oldestAt: at(0) })
  t.same(views.queueDepth(idOf('ch', 'nobody')), { depth: 0, oldestAt: null })
  views.close()
})

t.test('what is due: expiries of waiting messages, never of those under way', async t => {
  const history = createHistory()
  queue(history, 'late', 0, CHANNEL, at(100))
  queue(history, 'later', 1, CHANNEL, at(200))
  queue(history, 'under way', 2, CHANNEL, at(90))
  append(history, 'under way', started(3))
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  t.equal(views.nextQueueDue(), at(100))
  t.same(views.dueInQueue(at(99), ALL_SHARDS, 10), [])
  t.match(views.dueInQueue(at(300), ALL_SHARDS, 10), [
    { messageId: idOf('msg', 'late'), due: 'expiry' },
    { messageId: idOf('msg', 'later'), due: 'expiry' }
  ])
  t.equal(views.dueInQueue(at(300), ALL_SHARDS, 1).length, 1)
  views.close()
})

t.test('a deleted number leaves its waiting messages to fail, also those that come after', async t => {
  const history = createHistory()
  queue(history, 'waiting', 0)
  history.append(`channel-${CHANNEL}`, [{ type: 'ChannelDeleted', at: at(5), data: { source: 'admin' } }])
  const todo = { kind: 'fail_waiting', stream: `channel-${CHANNEL}`, subject: CHANNEL, due: at(5) }
  const dir = t.testdir({})

  const waiting = await viewsOf(join(dir, 'views.db'), history)
  t.same(waiting.dueTodos(at(5), ALL_SHARDS, 10), [todo])
  t.equal(waiting.nextTodoDue(ALL_SHARDS), at(5))
  waiting.close()

  append(history, 'waiting', { type: 'MessageFailed', at: at(6), data: { code: 'channel_deleted', by: 'service' } })
  const done = await viewsOf(join(dir, 'views.db'), history)
  t.same(done.dueTodos(at(9), ALL_SHARDS, 10), [])
  t.equal(done.nextTodoDue(ALL_SHARDS), null)
  done.close()

  queue(history, 'after', 7)
  const again = await viewsOf(join(dir, 'views.db'), history)
  t.same(again.dueTodos(at(9), ALL_SHARDS, 10), [todo])
  again.close()
})
