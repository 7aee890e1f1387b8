/** The routes of this folder in front of the real service: that each door is the right one, and what it says gets through. */
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

type Page = { readonly items: readonly Readonly<Record<string, unknown>>[]; readonly nextCursor: string | null }
type Results = {
  readonly results: readonly { messageId?: string; index: number; idempotencyKey: string; status?: string }[]
}

const world = await startWorld(t, { settings: { WEBHOOK_RETRY_SECONDS: '0.05' } })
const tenant = await world.tenant('acme')
const stranger = await world.tenant('other')
const channel = await tenant.officialNumber(world.official)
const to = someone()
const itemTo = (address: string, key: string) => ({
  to: address,
  content: { kind: 'text', text: 'Hello' },
  idempotencyKey: key
})
const batch = (messages: readonly unknown[]) =>
  tenant.ask<Results>('POST', `/v1/channels/${channel.id}/messages/batch`, { messages })
const idsOf = (page: { body: Page }): readonly unknown[] => page.body.items.map(item => item.id)
let ids: readonly string[] = []

t.test('a batch is admitted in order, its double is the first one, and it reaches its people', async t => {
  const answer = await batch([itemTo(to, 'a'), itemTo(someone(), 'b'), itemTo(to, 'a'), itemTo(to, 'c')])
  t.equal(answer.status, 202)
  t.match(answer.body.results, [
    { index: 0, idempotencyKey: 'a', status: 'accepted' },
    { index: 1, idempotencyKey: 'b', status: 'accepted' },
    { index: 2, idempotencyKey: 'a', status: 'accepted' },
    { index: 3, idempotencyKey: 'c', status: 'accepted' }
  ])
  const [a, b, again, c] = answer.body.results.map(result => result.messageId ?? '')
  t.equal(again, a)
  ids = [a ?? '', b ?? '', c ?? '']
  for (const id of ids) await tenant.reaches(id, 'read')
  t.equal((await batch([itemTo(to, 'never'), {}])).status, 422)
  t.equal(
    (await stranger.ask('POST', `/v1/channels/${channel.id}/messages/batch`, { messages: [itemTo(to, 'x')] })).status,
    404
  )
})

t.test('list, filters, pages, metrics', async t => {
  const all = await tenant.ask<Page>('GET', '/v1/messages')
  t.same(new Set(idsOf(all)), new Set(ids), 'what was refused is nowhere')
  const { events: _events, ...tracked } = await tenant.track(ids[0] ?? '')
  t.same(
    all.body.items.find(item => item.id === ids[0]),
    tracked
  )
  t.same(new Set(idsOf(await tenant.ask('GET', `/v1/messages?recipient=${to}`))), new Set([ids[0], ids[2]]))
  t.same(idsOf(await tenant.ask('GET', `/v1/messages?recipient=${someone()}`)), [])
  t.same(idsOf(await tenant.ask('GET', '/v1/messages?state=failed')), [])
  t.same(idsOf(await tenant.ask('GET', '/v1/messages?channelId=nonsense')), [])
  t.same(idsOf(await tenant.ask('GET', `/v1/messages?channelId=${channel.id}&state=read`)).length, 3)
  const first = await tenant.ask<Page>('GET', '/v1/messages?limit=2')
  const rest = await tenant.ask<Page>('GET', `/v1/messages?limit=2&cursor=${first.body.nextCursor}`)
  t.same([...idsOf(first), ...idsOf(rest)], idsOf(all))
  t.equal(rest.body.nextCursor, null)
  t.equal((await tenant.ask('GET', '/v1/messages?cursor=junk')).status, 422)
  t.same(idsOf(await stranger.ask('GET', '/v1/messages')), [])
  const metrics = await tenant.ask<{ totals: object; series: object[] }>('GET', '/v1/messages/metrics?window=24h')
  t.same(metrics.body.totals, { enqueued: 3, dispatched: 3, delivered: 3, failed: 0 })
  t.equal(metrics.body.series.length, 24)
})

t.test('renotify', async t => {
  const hooks = await tenant.receiver(t)
  const id = ids[0] ?? ''
  const one = await tenant.ask('POST', `/v1/messages/${id}/renotify`)
  t.same([one.status, one.body], [200, { enqueued: true, status: 'read' }])
  const told = await hooks.got('the redelivery', event => event.data.messageId === id)
  t.match(told.event, { type: 'message.status', redelivery: true, data: { status: 'read' } })
  t.equal((await stranger.ask('POST', `/v1/messages/${id}/renotify`)).status, 404)
  const [from, until] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)].map(at => at.toISOString())
  const many = await tenant.ask('POST', `/v1/messages/renotify?from=${from}&to=${until}&recipient=${to}`)
  t.same([many.status, many.body], [200, { enqueued: 2, skipped: 0 }])
  t.equal((await tenant.ask('POST', '/v1/messages/renotify')).status, 422)
})

t.test('a dead delivery is tried again', async t => {
  const hooks = await tenant.receiver(t)
  hooks.answers(() => 500)
  const { messageId } = await tenant.send(channel.id)
  const dead = await eventually('a dead delivery', async () => {
    const { body } = await tenant.ask<Page>(
      'GET',
      `/v1/webhooks/deliveries?state=dead&destinationId=${hooks.destinationId}`
    )
    return body.items.length > 0 && body.items[0]
  })
  hooks.answers(() => 204)
  const retried = await tenant.ask<{ state: string }>('POST', `/v1/webhooks/deliveries/${dead.id}/retry`)
  t.equal(retried.status, 200)
  await hooks.got('the event', event => event.data.messageId === messageId)
  await eventually('delivered', async () => {
    const answer = await tenant.ask('POST', `/v1/webhooks/deliveries/${dead.id}/retry`)
    return answer.status === 422
  })
  t.equal((await stranger.ask('POST', `/v1/webhooks/deliveries/${dead.id}/retry`)).status, 404)
})

t.test('templates', async t => {
  const saved = await tenant.ask('PUT', '/v1/templates', { name: 'order', language: 'en', body: 'Order {{1}}' })
  t.match(saved, { status: 200, body: { name: 'order', source: 'workspace', body: 'Order {{1}}', header: null } })
  const listed = await tenant.ask<Page>('GET', '/v1/templates?limit=100')
  t.same(
    listed.body.items.filter(item => item.source === 'workspace'),
    [saved.body]
  )
  t.equal((await stranger.ask('DELETE', '/v1/templates/order')).status, 404)
  t.equal((await tenant.ask('DELETE', '/v1/templates/order')).status, 204)
  t.equal((await tenant.ask('DELETE', '/v1/templates/order')).status, 404)
})

t.test('risk acceptances', async t => {
  const path = '/v1/compliance/risk-acceptances'
  const accept = (termsVersion: string) => tenant.ask('POST', path, { track: 'unofficial', termsVersion })
  t.equal((await accept('unofficial-v0')).status, 422)
  t.same((await tenant.ask('GET', path)).body, { items: [], nextCursor: null })
  const first = await accept('unofficial-v1')
  t.match(first, { status: 201, body: { track: 'unofficial', termsVersion: 'unofficial-v1', acceptedAt: /Z$/ } })
  t.same((await accept('unofficial-v1')).body, first.body, 'once only')
  t.same((await tenant.ask('GET', path)).body, { items: [first.body], nextCursor: null })
})

t.test('erasure', async t => {
  const erase = () => tenant.ask<Record<string, unknown>>('POST', '/v1/erasure', { contact: to })
  const answer = await erase()
  t.match(answer, { status: 200, body: { contact: /^5521\*+\d{4}$/, messages: 2, erasedAt: /Z$/ } })
  t.equal((await tenant.track(ids[0] ?? '')).toAddress, '***')
  t.match(await erase(), { status: 200, body: { messages: 0, deliveriesCancelled: 0 } })
  t.same(idsOf(await tenant.ask('GET', `/v1/messages?recipient=${to}`)), [])
})
