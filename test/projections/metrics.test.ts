import { join } from 'node:path'
import t from 'tap'
import type { MetricsWindow } from '../../src/projections/port.ts'
import { at, createHistory, idOf, TENANT } from './history.ts'
import { inbound, message } from './message-events.ts'
import { viewsOf } from './spec.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
/** The history begins at 08:00 of 2026-01-05. */
const NOW = at(30 * 60)

t.test('each count falls into the hour of its own event, and empty hours are there', async t => {
  const history = createHistory()
  // Admitted and dispatched at 07:59:58 and 07:59:59, delivered and read in the next hour.
  message(history, 'over the hour', -2, ['MessageSent', 'MessageDelivered', 'MessageRead'])
  message(history, 'failed', 10, ['MessageFailed'])
  message(history, 'of another', 10, [], { tenantId: idOf('tn', 'other') })
  inbound(history, 'inbound', 20)
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  const metrics = views.metrics(TENANT, '24h', NOW)
  t.match(metrics, { granularity: 'hour', window: '24h' })
  t.equal(metrics.series.length, 24)
  t.match(metrics.series[0], { day: '2026-01-04', t: '2026-01-04T09:00:00.000Z', enqueued: 0 })
  t.same(metrics.series.slice(-2), [
    { day: '2026-01-05', t: '2026-01-05T07:00:00.000Z', enqueued: 1, dispatched: 1, delivered: 0 },
    { day: '2026-01-05', t: '2026-01-05T08:00:00.000Z', enqueued: 1, dispatched: 0, delivered: 1 }
  ])
  t.same(metrics.totals, { enqueued: 2, dispatched: 1, delivered: 1, failed: 1 })
  views.close()
})

t.test('days: from the present one back, in UTC', async t => {
  const history = createHistory()
  message(history, 'before the window', -3 * DAY)
  message(history, 'two days ago', -2 * DAY, ['MessageSent'])
  message(history, 'before midnight', -8 * HOUR - 1)
  message(history, 'midnight', -8 * HOUR)
  message(history, 'today', 0, [], { channelId: idOf('ch', 'second') })
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  const three = views.metrics(TENANT, '3d', NOW)
  t.equal(three.granularity, 'day')
  t.same(
    three.series.map(bucket => [bucket.day, bucket.t, bucket.enqueued]),
    [
      ['2026-01-03', '2026-01-03T00:00:00.000Z', 1],
      ['2026-01-04', '2026-01-04T00:00:00.000Z', 1],
      ['2026-01-05', '2026-01-05T00:00:00.000Z', 2]
    ]
  )
  t.same(three.totals, { enqueued: 4, dispatched: 1, delivered: 0, failed: 0 })
  const one = views.metrics(TENANT, '1d', NOW)
  t.equal(one.series.length, 1)
  t.equal(one.totals.enqueued, 2)
  t.equal(views.metrics(TENANT, '90d', NOW).series.length, 90)
  const nobody = views.metrics('tn_nobody', '24h' satisfies MetricsWindow, NOW)
  t.same(nobody.totals, { enqueued: 0, dispatched: 0, delivered: 0, failed: 0 })
  t.equal(nobody.series.length, 24)
  views.close()
})

t.test('a message counts once a column', async t => {
  const history = createHistory()
  message(history, 'read without delivery', 0, ['MessageSent', 'MessageRead', 'MessageDelivered'])
  message(history, 'failed, then proven', 10, [
    ['MessageFailed', { code: 'dispatch_indeterminate', by: 'service' }],
    'MessageSent',
    'MessageDelivered',
    'MessageFailed'
  ])
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  t.same(views.metrics(TENANT, '1d', NOW).totals, { enqueued: 2, dispatched: 2, delivered: 2, failed: 1 })
  views.close()
})
