/** Limits that only many messages reach (channel-service, Limits): renotify by filter, and deliveries by destination. */
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const LIMIT = 5_000
const BATCH_MAX = 2_000

const world = await startWorld(t, { official: { autoStatuses: false } })
const tenant = await world.tenant('acme')
const told = await tenant.receiver(t)
const other = await tenant.receiver(t)
const channel = await tenant.officialNumber(world.official)

type Renotified = { enqueued: number; skipped: number; error?: { code: string; details: { message: string }[] } }
type Page = { items: { destinationId: string; state: string }[] }

t.test('renotify by filter: up to 5,000 messages; one more and nothing is processed', async t => {
  const from = new Date(Date.now() - 1000).toISOString()
  const to = new Date(Date.now() + 3_600_000).toISOString()
  const renotify = () => tenant.ask<Renotified>('POST', `/v1/messages/renotify?from=${from}&to=${to}`)
  const { messageId } = await tenant.send(channel.id)
  await tenant.reaches(messageId, 'sent')
  await world.official.control('POST', 'tokens', { token: 'EAABtokenOfTheTest', wabas: 'all', state: 'revoked' })
  for (let made = 1; made < LIMIT; ) {
    const count = Math.min(BATCH_MAX, LIMIT - made)
    const messages = Array.from({ length: count }, (_, index) => ({
      to: someone(),
      content: { kind: 'text', text: 'Hi' },
      idempotencyKey: `limits-${made + index}`
    }))
    t.equal((await tenant.ask('POST', `/v1/channels/${channel.id}/messages/batch`, { messages })).status, 202)
    made += count
  }
  const redelivered = () => told.taken().filter(({ event }) => 'redelivery' in event).length
  t.match(await renotify(), { status: 200, body: { enqueued: 1, skipped: LIMIT - 1 } })
  await eventually('the redelivery', () => redelivered() === 1)
  await tenant.send(channel.id)
  const { status, body } = await renotify()
  t.match([status, body], [422, { error: { code: 'validation_failed' } }])
  t.match(body.error?.details[0]?.message, /5000/)
  t.equal(redelivered(), 1)
})

t.test('deliveries by destination: each receiver has its own', async t => {
  for (const receiver of [told, other]) {
    const page = await tenant.ask<Page>('GET', `/v1/webhooks/deliveries?destinationId=${receiver.destinationId}`)
    t.ok(page.body.items.length > 0)
    t.ok(page.body.items.every(one => one.destinationId === receiver.destinationId))
  }
  const none = await tenant.ask<Page>('GET', '/v1/webhooks/deliveries?destinationId=whd_00000000000000000000000000')
  t.same(none.body.items, [])
})
