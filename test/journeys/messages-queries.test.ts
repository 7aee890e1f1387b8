/** The list, metrics and renotify, one row a rule (channel-service, Endpoints: Messages; decisions §3). */
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t)
const { official } = world
const tenant = await world.tenant('acme')
const channel = await tenant.officialNumber(official)
const hooks = await tenant.receiver(t)

let keys = 0
const item = (more: object = {}) => ({
  to: someone(),
  content: { kind: 'text', text: 'Hi' },
  idempotencyKey: `queries-${++keys}`,
  ...more
})
const post = (body: object, ref = channel.id) =>
  tenant.ask<{ messageId: string }>('POST', `/v1/channels/${ref}/messages`, body)

t.test('GET /v1/messages: filters, order, stable cursor; POST renotify by the same filters', async t => {
  const quiet = await tenant.officialNumber(official)
  await official.fault('no_status', { match: { phoneNumberId: quiet.phoneNumberId }, times: 0 })
  const started = new Date().toISOString()
  const to = someone()
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push((await post(item({ to: n === 2 ? to : someone() }), quiet.id)).body.messageId)
  for (const id of ids) await tenant.reaches(id, 'sent')
  type Page = { items: Record<string, unknown>[]; nextCursor: string | null }
  const get = (query: string) => tenant.ask<Page>('GET', `/v1/messages?${query}`)
  const idsOf = ({ body }: { body: Page }) => body.items.map(one => one.id)
  t.same(idsOf(await get(`channelId=${quiet.id}`)), ids.toReversed(), 'newest first')
  t.same(idsOf(await get(`recipient=${to}`)), [ids[2]])
  t.same(idsOf(await get(`channelId=${quiet.id}&state=read`)), [])
  t.same(idsOf(await get(`channelId=${quiet.id}&state=sent&recipient=${to}`)), [ids[2]])
  t.same(idsOf(await get(`channelId=${quiet.id}&to=${started}`)), [])
  t.same(idsOf(await get(`channelId=${quiet.id}&from=${started}`)), ids.toReversed())
  const first = await get(`channelId=${quiet.id}&limit=2`)
  t.same(idsOf(first), ids.toReversed().slice(0, 2))
  const newer = (await post(item(), quiet.id)).body.messageId
  const second = await get(`channelId=${quiet.id}&limit=2&cursor=${first.body.nextCursor}`)
  t.same(idsOf(second), ids.toReversed().slice(2, 4), 'a newer message moves no page')
  const third = await get(`channelId=${quiet.id}&limit=2&cursor=${second.body.nextCursor}`)
  t.same([idsOf(third), third.body.nextCursor], [[ids[0]], null])
  t.same(Object.keys(first.body.items[0] ?? {}).sort(), [
    'attempts',
    'channelId',
    'createdAt',
    'id',
    'lastError',
    'state',
    'toAddress',
    'traceId',
    'updatedAt'
  ])
  for (const wrong of [
    'limit=0',
    'limit=101',
    'limit=x',
    'cursor=abc',
    'state=gone',
    'recipient=abc',
    'from=yesterday'
  ])
    t.match(await get(wrong), { status: 422, body: { error: { code: 'validation_failed' } } }, wrong)
  t.equal((await get('tenantId=tn_x&whatever=1&limit=1')).status, 200, 'unknown query parameters are ignored')

  await tenant.reaches(newer, 'sent')
  await tenant.ask('POST', `/v1/channels/${quiet.id}/disconnect`)
  const until = new Date(Date.now() + 1000).toISOString()
  const renotify = (query: string) =>
    tenant.ask<{ enqueued: number; skipped: number }>('POST', `/v1/messages/renotify?${query}`)
  const told = await renotify(`from=${started}&to=${until}&recipient=${to}&channelId=${quiet.id}`)
  t.same([told.status, told.body], [200, { enqueued: 1, skipped: 0 }])
  const { event } = await hooks.got('a redelivery', one => one.data.messageId === ids[2] && 'redelivery' in one)
  const original = hooks.taken().find(hook => hook.event.data.messageId === ids[2] && hook.event.data.status === 'sent')
  t.equal(event.id, original?.event.id, 'the id of the original event')
  t.match(event, { type: 'message.status', redelivery: true, data: { messageId: ids[2], status: 'sent' } })
  const eight = new Date(Date.parse(until) - 8 * 86_400_000).toISOString()
  for (const wrong of ['', `from=${started}`, `to=${until}`, `from=${eight}&to=${until}`])
    t.match(await renotify(wrong), { status: 422, body: { error: { code: 'validation_failed' } } }, `renotify ${wrong}`)
})

t.test('POST /v1/messages/:id/renotify: 200 with the status; 422 without one', async t => {
  const to = someone()
  await official.fault('slow', { match: { to }, ms: 1500 })
  const slow = (await post(item({ to }))).body.messageId
  await tenant.reaches(slow, 'dispatching')
  t.match(await tenant.ask('POST', `/v1/messages/${slow}/renotify`), {
    status: 422,
    body: { error: { code: 'validation_failed' } }
  })
  await tenant.reaches(slow, 'read')
  const answer = await tenant.ask('POST', `/v1/messages/${slow}/renotify`)
  t.same([answer.status, answer.body], [200, { enqueued: true, status: 'read' }])
  await eventually('the redelivery', () =>
    hooks
      .taken()
      .find(({ event }) => event.data.messageId === slow && event.data.status === 'read' && 'redelivery' in event)
  )
})

t.test('GET /v1/messages/metrics: windows, buckets and totals', async t => {
  const lost = { content: { kind: 'reaction', targetMessageId: `msg_${'0'.repeat(26)}`, emoji: '👍' } }
  await tenant.reaches((await post(item(lost))).body.messageId, 'failed')
  type Metrics = {
    granularity: string
    window: string
    series: { day: string; t: string; enqueued: number; dispatched: number; delivered: number }[]
    totals: { enqueued: number; dispatched: number; delivered: number; failed: number }
  }
  for (const [query, granularity, buckets] of [
    ['', 'day', 30],
    ['?window=24h', 'hour', 24],
    ['?window=1d', 'day', 1],
    ['?window=90d', 'day', 90]
  ] as const) {
    const { status, body } = await tenant.ask<Metrics>('GET', `/v1/messages/metrics${query}`)
    t.equal(status, 200)
    t.match(body, { granularity, window: query === '' ? '30d' : query.slice(8) })
    t.equal(body.series.length, buckets, `${query}: empty buckets are present`)
    for (const column of ['enqueued', 'dispatched', 'delivered'] as const)
      t.equal(
        body.series.reduce((sum, one) => sum + one[column], 0),
        body.totals[column],
        `${query}: ${column} adds up`
      )
    t.ok(body.totals.enqueued >= body.totals.dispatched && body.totals.dispatched >= body.totals.delivered)
    t.ok(body.totals.failed >= 1 && body.totals.delivered >= 1)
    t.same(Object.keys(body).sort(), ['granularity', 'series', 'totals', 'window'])
    t.match(body.series.at(-1), { day: /^\d{4}-\d\d-\d\d$/, t: /T\d\d:00:00\.000Z$/ })
  }
  for (const wrong of ['91d', '0d', '25h', 'x'])
    t.equal((await tenant.ask('GET', `/v1/messages/metrics?window=${wrong}`)).status, 422, wrong)
})
