import { join } from 'node:path'
import t from 'tap'
import type { Event } from '../../src/domain/event.ts'
import { isId, timePart } from '../../src/domain/ids.ts'
import { deliveryId, seqOf } from '../../src/projections/views/outbox-ids.ts'
import { at, createHistory, idOf, TENANT } from './history.ts'
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

t.test('a row for each webhook event and destination that is enabled when it happens', async t => {
  const history = createHistory()
  register(history, FIRST)
  history.append(MESSAGE, [sent])
  register(history, SECOND, 10)
  history.append(MESSAGE, [delivered])
  change(history, FIRST, 'DestinationChanged', { enabled: false })
  history.append(`channel-${CHANNEL}`, [{ type: 'ChannelDeleted', at: at(61), data: { source: 'admin' } }])
  change(history, FIRST, 'DestinationChanged', { enabled: true })
  history.append(`channel-${CHANNEL}`, [
    { type: 'ChannelWentDown', at: at(62), data: { source: 'supervisor', reason: 'session_dropped' } }
  ])
  history.append(MESSAGE, [{ type: 'MessageReportNoted', at: at(63), data: { status: 'sent', outcome: 'late' } }])
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  t.same(summary(views).reverse(), [
    'message.sent first pending',
    'message.status first pending',
    'message.status first pending',
    'message.status second pending',
    'channel.lifecycle second pending',
    'channel.lifecycle second pending',
    'channel.lifecycle first pending',
    'channel.status second pending',
    'channel.status first pending'
  ])
  t.same(views.destinationsWithWork(), [FIRST, SECOND].sort())
  const pending = views.pendingDeliveries(FIRST, 0, 2)
  t.same(
    pending.map(row => row.eventType),
    ['message.sent', 'message.status']
  )
  t.equal(views.pendingDeliveries(FIRST, pending[1]?.seq ?? 0, 100).length, 3, 'and on from a place in the order')
  t.equal(new Set(all(views).map(row => row.id)).size, 9)
  views.close()
})

t.test('ids follow from where the log event stands and when it happened', async t => {
  const history = createHistory()
  register(history, FIRST)
  register(history, SECOND)
  const [event] = history.append(MESSAGE, [sent])
  const file = join(t.testdir({}), 'views.db')
  const views = await viewsOf(file, history)
  const rows = all(views)
  t.equal(new Set(rows.map(row => row.id)).size, 4)
  t.equal(new Set(rows.map(row => row.eventId)).size, 2, 'an event has one id for all destinations')
  for (const row of rows) {
    t.match(row, { position: event?.position, streamNo: event?.streamNo, createdAt: at(10), redelivery: null })
    t.ok(isId('dlv', row.id) && isId('evt', row.eventId))
    t.equal(timePart(row.id), timePart(event?.id ?? ''), 'ordered by time')
    t.same(views.delivery(TENANT, row.id), row)
    t.equal(views.delivery('tn_other', row.id), null)
    t.equal(views.delivery(TENANT, `${row.id.slice(0, -1)}${row.id.endsWith('0') ? '1' : '0'}`), null, 'a near miss')
  }
  t.equal(views.delivery(TENANT, idOf('dlv', 'nobody')), null)
  t.equal(views.delivery(TENANT, 'dlv_short'), null)
  views.close()
  const again = await viewsOf(join(t.testdir({ again: {} }), 'again', 'views.db'), history)
  t.same(all(again), rows, 'folding the log again creates nothing new')
  again.close()
})

t.test('places up to the largest number of a log survive the way through an id', t => {
  for (const seq of [0, 1, 63, 64, 12_345_678, 2 ** 40 + 7, Number.MAX_SAFE_INTEGER])
    t.equal(seqOf(deliveryId(seq, 1_767_600_000_000)), seq)
  t.equal(seqOf(`dlv_${'z'.repeat(26)}`), null)
  t.end()
})

t.test('a renotify tells the event again that brought the message where it is', async t => {
  const history = createHistory()
  register(history, FIRST)
  history.append(MESSAGE, [sent, delivered])
  const renotify: Event = { type: 'MessageRenotifyRequested', at: at(30), data: { status: 'delivered' } }
  history.append(MESSAGE, [renotify, renotify])
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  const [second, first, original] = all(views)
  for (const row of [first, second])
    t.match(row, {
      eventId: original?.eventId,
      position: original?.position,
      redelivery: 'delivered',
      createdAt: at(30)
    })
  t.not(first?.id, second?.id)
  t.not(first?.id, original?.id)
  views.close()
})

t.test('outcomes settle rows once; the destination shows since when it fails', async t => {
  const history = createHistory()
  register(history, FIRST)
  history.append(MESSAGE, [sent, delivered])
  const dir = t.testdir({})
  const file = join(dir, 'views.db')
  const fresh = await viewsOf(file, history)
  const [third, second, first] = all(fresh).map(row => row.id)
  fresh.close()
  settled(
    history,
    { deliveryId: first ?? '', state: 'delivered' },
    { deliveryId: second ?? '', state: 'retrying', status: 500, error: 'status_500', nextAttemptAt: at(25) },
    { deliveryId: third ?? '', state: 'dead', attempt: 8, status: null, error: 'timeout', at: at(21) },
    { deliveryId: idOf('dlv', 'nobody'), state: 'dead' }
  )
  settled(history, { deliveryId: first ?? '', state: 'dead' }, { deliveryId: third ?? '', state: 'retrying' })

  const views = await viewsOf(file, history)
  t.match(views.delivery(TENANT, first ?? ''), {
    state: 'delivered',
    deliveredAt: at(20),
    lastStatus: 200,
    attempts: 1
  })
  t.match(views.delivery(TENANT, second ?? ''), { state: 'retrying', lastError: 'status_500', nextAttemptAt: at(25) })
  t.match(views.delivery(TENANT, third ?? ''), {
    state: 'dead',
    attempts: 8,
    lastError: 'timeout',
    nextAttemptAt: null
  })
  t.same(views.dueDeliveryRetries(FIRST, at(24), 10), [])
  t.same(
    views.dueDeliveryRetries(FIRST, at(25), 10).map(row => row.id),
    [second]
  )
  t.equal(views.nextDeliveryDue(FIRST), at(25))
  t.same(views.pendingDeliveries(FIRST, 0, 10), [])
  t.same(views.destinationHealth(FIRST), { failingSince: at(20), lastError: 'timeout' })
  const stateOf = (state: string) => views.deliveries(TENANT, { state }, 10, null).items.map(row => row.id)
  t.same(
    [stateOf('delivered'), stateOf('retrying'), stateOf('dead'), stateOf('pending'), stateOf('dispatching')],
    [[first], [second], [third], [], []]
  )
  views.close()

  settled(history, { deliveryId: second ?? '', attempt: 2, at: at(26) })
  const done = await viewsOf(file, history)
  t.same(done.destinationsWithWork(), [])
  t.same(done.destinationHealth(FIRST), { failingSince: null, lastError: null })
  done.close()
})

t.test('a destination that is disabled or removed takes its unsettled deliveries along', async t => {
  const history = createHistory()
  register(history, FIRST)
  register(history, SECOND)
  history.append(MESSAGE, [delivered])
  change(history, FIRST, 'DestinationDisabled', { reason: 'gone' })
  change(history, SECOND, 'DestinationRemoved')
  const file = join(t.testdir({}), 'views.db')
  const dead = await viewsOf(file, history)
  t.same(summary(dead), ['message.status second dead', 'message.status first dead'])
  t.same(
    all(dead).map(row => row.lastError),
    ['destination_removed', 'destination_disabled']
  )
  t.equal(dead.deliveries(TENANT, { state: 'dead' }, 10, null).items.length, 2)
  t.equal(dead.deliveries(TENANT, { state: 'pending' }, 10, null).items.length, 0)
  t.same(dead.destinationsWithWork(), [])
  t.same(dead.pendingDeliveries(FIRST, 0, 10), [])
  t.match(dead.destinations(TENANT), [{ id: FIRST, enabled: false, secretLast4: 'last' }])
  t.equal(dead.destination(TENANT, SECOND), null)
  const [, first] = all(dead)
  dead.close()

  // Enabled again: what was dead stays dead, whatever comes late; what happens from now on goes out.
  change(history, FIRST, 'DestinationChanged', { enabled: true })
  settled(history, { deliveryId: first?.id ?? '', state: 'delivered' })
  history.append(MESSAGE, [{ type: 'MessageRead', at: at(70), data: {} }])
  const again = await viewsOf(file, history)
  t.same(summary(again), ['message.status first pending', 'message.status second dead', 'message.status first dead'])
  t.equal(again.pendingDeliveries(FIRST, 0, 10).length, 1)
  again.close()
})

t.test('the list of deliveries: newest first, by filter, page by page, stable while more come', async t => {
  const history = createHistory()
  register(history, FIRST)
  register(history, SECOND)
  for (let index = 0; index < 5; index++) history.append(MESSAGE, [sent])
  const file = join(t.testdir({}), 'views.db')
  const views = await viewsOf(file, history)
  const whole = all(views).map(row => row.id)
  t.equal(whole.length, 20)
  const page = views.deliveries(TENANT, {}, 8, null)
  views.close()
  history.append(MESSAGE, [delivered])
  const later = await viewsOf(file, history)
  const next = later.deliveries(TENANT, {}, 8, page.nextCursor)
  const last = later.deliveries(TENANT, {}, 8, next.nextCursor)
  t.same(
    [...page.items, ...next.items, ...last.items].map(row => row.id),
    whole
  )
  t.equal(last.nextCursor, null)
  const filter = { destinationId: SECOND, eventType: 'message.sent' }
  t.equal(later.deliveries(TENANT, filter, 100, null).items.length, 5)
  t.equal(later.deliveries('tn_other', {}, 100, null).items.length, 0)
  later.close()
})
