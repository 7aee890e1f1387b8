import { join } from 'node:path'
import t from 'tap'
import type { Event } from '../../src/domain/event.ts'
import { at, createHistory, type History, idOf, TENANT } from './history.ts'
import {
  all,
  CHANNEL,
  change,
  delivered,
  FIRST,
  MESSAGE,
  register,
  SECOND,
  sent,
  settled,
  summary
} from './outbox-history.ts'
import { viewsOf } from './spec.ts'

const retried = (history: History, second: number, ...deliveryIds: readonly string[]) =>
  history.append('outcomes-1-20260105', [{ type: 'DeliveriesRetried', at: at(second), data: { deliveryIds } }])

t.test('a dead delivery is taken up again: due at once, its attempts kept', async t => {
  const history = createHistory()
  register(history, FIRST)
  history.append(MESSAGE, [sent])
  const file = join(t.testdir({}), 'views.db')
  const fresh = await viewsOf(file, history)
  const [second = '', first = ''] = all(fresh).map(row => row.id)
  fresh.close()
  settled(history, { deliveryId: first, state: 'dead', attempt: 8, error: 'timeout' })
  settled(history, { deliveryId: second, state: 'delivered' })
  retried(history, 30, first, second, idOf('dlv', 'nobody'))
  retried(history, 31, first)
  const views = await viewsOf(file, history)
  t.match(views.delivery(TENANT, first), { state: 'pending', attempts: 8, nextAttemptAt: at(30), lastError: 'timeout' })
  t.match(views.delivery(TENANT, second), { state: 'delivered', nextAttemptAt: null })
  t.same(
    views.dueDeliveryRetries(FIRST, at(30), 10).map(row => row.id),
    [first]
  )
  t.same(views.dueDeliveryRetries(FIRST, at(29), 10), [])
  t.equal(views.nextDeliveryDue(FIRST), at(30))
  t.same(views.pendingDeliveries(FIRST, 0, 10), [], 'it was tried before')
  t.same(views.destinationsWithWork(), [FIRST])
  views.close()
  settled(history, { deliveryId: first, attempt: 9, at: at(32) })
  const done = await viewsOf(file, history)
  t.match(done.delivery(TENANT, first), { state: 'delivered', attempts: 9, nextAttemptAt: null })
  t.same(done.destinationsWithWork(), [])
  done.close()
})

t.test('what died with its destination can be taken up once it is enabled again', async t => {
  const history = createHistory()
  register(history, FIRST)
  const file = join(t.testdir({}), 'views.db')
  history.append(MESSAGE, [delivered])
  change(history, FIRST, 'DestinationDisabled', { reason: 'gone' })
  const dead = await viewsOf(file, history)
  const [id = ''] = all(dead).map(row => row.id)
  dead.close()
  retried(history, 61, id)
  const still = await viewsOf(file, history)
  t.match(still.delivery(TENANT, id), { state: 'dead', lastError: 'destination_disabled' }, 'not while it is disabled')
  still.close()
  change(history, FIRST, 'DestinationChanged', { enabled: true })
  retried(history, 62, id)
  const again = await viewsOf(file, history)
  t.match(again.delivery(TENANT, id), { state: 'pending', nextAttemptAt: at(62) })
  t.equal(again.deliveries(TENANT, { state: 'dead' }, 10, null).items.length, 0)
  t.equal(again.deliveries(TENANT, { state: 'pending' }, 10, null).items.length, 1)
  again.close()
})

t.test('news of a template goes out, what was only read from the list does not', async t => {
  const history = createHistory()
  register(history, FIRST)
  const data = { wabaId: '20', channelId: CHANNEL, name: 'greeting', language: 'en', status: 'approved' }
  const observed = (news: object): Event => ({ type: 'TemplateObserved', at: at(5), data: { ...data, ...news } })
  history.append(`templates-${TENANT}`, [observed({}), observed({ isNews: true })])
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  t.same(summary(views), ['template.updated first pending'])
  views.close()
})

t.test('unsettled deliveries with data of a contact', async t => {
  const history = createHistory()
  register(history, FIRST)
  register(history, SECOND)
  const contact = idOf('ct', 'one')
  const shared = { tenantId: TENANT, channelId: CHANNEL, contentKind: 'text' }
  const queued = (name: string, contactId: string): Event => ({
    type: 'MessageQueued',
    at: at(9),
    data: { ...shared, messageId: idOf('msg', name), contactId }
  })
  const received = (name: string, contactId: string): Event => ({
    type: 'MessageReceived',
    at: at(9),
    data: { ...shared, messageId: idOf('msg', name), contactId, channelKind: 'official', providerIdIndex: name }
  })
  history.append('message-out', [queued('out', contact), sent, delivered])
  history.append('message-other', [queued('other', idOf('ct', 'other')), sent])
  history.append('message-in', [received('in', contact)])
  history.append('message-in-other', [received('in-other', idOf('ct', 'other'))])
  const file = join(t.testdir({}), 'views.db')
  const views = await viewsOf(file, history)
  const told = views.unsettledDeliveriesOf(TENANT, contact, 100)
  t.same(
    told.map(row => `${row.eventType} ${row.destinationId === FIRST ? 'first' : 'second'}`),
    ['message.sent first', 'message.sent second', 'message.received first', 'message.received second']
  )
  t.equal(views.unsettledDeliveriesOf(TENANT, contact, 1).length, 1)
  t.same(views.unsettledDeliveriesOf('tn_other', contact, 100), [])
  t.same(views.unsettledDeliveriesOf(TENANT, idOf('ct', 'nobody'), 100), [])
  views.close()
  settled(history, { deliveryId: told[0]?.id ?? '' }, { deliveryId: told[2]?.id ?? '', state: 'retrying' })
  change(history, SECOND, 'DestinationDisabled', { reason: 'gone' })
  const later = await viewsOf(file, history)
  t.same(
    later.unsettledDeliveriesOf(TENANT, contact, 100).map(row => `${row.eventType} ${row.state}`),
    ['message.received retrying']
  )
  later.close()
})
