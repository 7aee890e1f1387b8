import { join } from 'node:path'
import t from 'tap'
import { BadCursor } from '../../src/projections/cursor.ts'
import type { MessageFilter } from '../../src/projections/port.ts'
import { at, createHistory, idOf, TENANT } from './history.ts'
import { CHANNEL, CONTACT, inbound, message } from './message-events.ts'
import { viewsOf } from './spec.ts'

const OTHER_TENANT = idOf('tn', 'other')
const SECOND_CHANNEL = idOf('ch', 'second')
const SECOND_CONTACT = idOf('ct', 'second')

/** Four messages of the tenant, one of another, and an inbound one. */
function given() {
  const history = createHistory()
  const second = { channelId: SECOND_CHANNEL, contactId: SECOND_CONTACT }
  const ids = {
    read: message(history, 'read', 0, ['MessageDispatchStarted', 'MessageSent', 'MessageDelivered', 'MessageRead']),
    failed: message(history, 'failed', 10, ['MessageFailed']),
    waiting: message(history, 'waiting', 20, [], second),
    retrying: message(history, 'retrying', 30, ['MessageRetryScheduled'], { contactId: SECOND_CONTACT })
  }
  message(history, 'foreign', 15, [], { tenantId: OTHER_TENANT, channelId: idOf('ch', 'foreign') })
  inbound(history, 'inbound', 16)
  return { history, ids }
}

t.test('each filter, and filters together, newest first', async t => {
  const { history, ids } = given()
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  const { read, failed, waiting, retrying } = ids
  const cases: readonly (readonly [MessageFilter, readonly string[]])[] = [
    [{}, [retrying, waiting, failed, read]],
    [{ from: at(10) }, [retrying, waiting, failed]],
    [{ to: at(20) }, [waiting, failed, read]],
    [{ from: at(10), to: at(10) }, [failed]],
    [{ from: at(11), to: at(9) }, []],
    [{ state: 'read' }, [read]],
    [{ state: 'queued' }, [waiting]],
    [{ state: 'sent' }, []],
    [{ state: 'no such state' }, []],
    [{ channelId: CHANNEL }, [retrying, failed, read]],
    [{ channelId: idOf('ch', 'foreign') }, []],
    [{ channelId: idOf('ch', 'unheard of') }, []],
    [{ contactId: SECOND_CONTACT }, [retrying, waiting]],
    [{ contactId: null }, []],
    [{ contactId: idOf('ct', 'unheard of') }, []],
    [{ contactId: SECOND_CONTACT, channelId: CHANNEL }, [retrying]],
    [{ contactId: SECOND_CONTACT, state: 'queued', from: at(20) }, [waiting]],
    [{ channelId: CHANNEL, state: 'failed' }, [failed]],
    [{ channelId: CHANNEL, from: at(1), to: at(29) }, [failed]]
  ]
  for (const [filter, expected] of cases) {
    t.same(
      views.messages(TENANT, filter, 100, null).items.map(row => row.id),
      expected,
      JSON.stringify(filter)
    )
    t.same(
      views.messageStates(TENANT, filter, 100).map(row => row.id),
      expected
    )
  }
  t.same(views.messageStates(TENANT, {}, 2), [
    { id: retrying, state: 'retrying' },
    { id: waiting, state: 'queued' }
  ])
  t.equal(views.messages('tn_unheard', {}, 10, null).items.length, 0)
  views.close()
})

t.test('an item is the tracking view without its events', async t => {
  const { history, ids } = given()
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  const [item] = views.messages(TENANT, { state: 'read' }, 1, null).items
  const tracked = views.tracking(TENANT, ids.read)
  t.equal(tracked?.events.length, 5)
  t.same(item, Object.fromEntries(Object.entries(tracked ?? {}).filter(([name]) => name !== 'events')))
  views.close()
})

t.test('pages neither repeat nor skip, also among equal times and while more messages come', async t => {
  const history = createHistory()
  for (let index = 0; index < 25; index++)
    message(history, `first ${index}`, Math.floor(index / 10), index % 3 === 0 ? ['MessageFailed'] : [])
  const file = join(t.testdir({}), 'views.db')
  for (const filter of [{}, { channelId: CHANNEL }, { contactId: CONTACT }, { state: 'failed' }] as MessageFilter[]) {
    const before = await viewsOf(file, history)
    const whole = before.messages(TENANT, filter, 100, null).items.map(row => row.id)
    let page = before.messages(TENANT, filter, 4, null)
    const seen = page.items.map(row => row.id)
    before.close()
    while (page.nextCursor !== null) {
      message(history, `later ${history.events.length}`, 100)
      const views = await viewsOf(file, history)
      page = views.messages(TENANT, filter, 4, page.nextCursor)
      seen.push(...page.items.map(row => row.id))
      views.close()
    }
    t.same(seen, whole, JSON.stringify(filter))
    t.equal(new Set(seen).size, seen.length)
  }
})

t.test('a cursor of another list, or a spoilt one, is refused', async t => {
  const history = createHistory()
  for (let index = 0; index < 3; index++) message(history, `${index}`, index)
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  const { nextCursor } = views.messages(TENANT, {}, 1, null)
  t.type(nextCursor, 'string')
  t.throws(() => views.deliveries(TENANT, {}, 1, nextCursor), BadCursor)
  t.throws(() => views.templates(TENANT, 1, nextCursor), BadCursor)
  for (const cursor of ['', 'spoilt', `${nextCursor}x`, Buffer.from('messages:5').toString('base64url')])
    t.throws(() => views.messages(TENANT, {}, 1, cursor), BadCursor, cursor)
  views.close()
})

t.test('what waits for a contact, and how many messages it has', async t => {
  const { history, ids } = given()
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  t.same(
    views.waitingFor(TENANT, SECOND_CONTACT, 10).map(row => `${row.messageId} ${row.state}`),
    [`${ids.waiting} queued`, `${ids.retrying} retrying`]
  )
  t.equal(views.waitingFor(TENANT, SECOND_CONTACT, 1).length, 1)
  t.same(views.waitingFor(TENANT, CONTACT, 10), [], 'nothing of a contact whose messages are over')
  t.same(views.waitingFor(OTHER_TENANT, SECOND_CONTACT, 10), [])
  t.equal(views.messagesOf(TENANT, SECOND_CONTACT), 2)
  t.equal(views.messagesOf(TENANT, CONTACT), 2)
  t.equal(views.messagesOf(TENANT, idOf('ct', 'unheard of')), 0)
  views.close()
})
