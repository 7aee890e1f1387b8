/** Receivers that are down, slow or rude: every event arrives all the same, and nobody waits for another's receiver. */
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { isSigned } from '../support/webhooks.ts'
import { startWorld } from '../support/world.ts'

// The last tries come late: on a slow machine the receiver is away for longer than the usual ones last.
const world = await startWorld(t, {
  settings: { WEBHOOK_TIMEOUT_SECONDS: '3', WEBHOOK_RETRY_SECONDS: '0.2,0.2,0.5,0.5,1,1,2,4,8,16' }
})
const { official, service } = world
const tenant = await world.tenant('acme')
const channel = await tenant.officialNumber(official)
// All statuses of a message in one callback, in order: each message has exactly four events, however slow the machine.
await official.fault('batch_statuses', { times: 0 })

t.test('a receiver that is down while the process is killed gets all 200 of 200 events when both are back', async t => {
  const hooks = await tenant.receiver(t)
  await hooks.down()
  const sent = await Promise.all(Array.from({ length: 50 }, () => tenant.send(channel.id)))
  for (const { messageId } of sent) await tenant.reaches(messageId, 'read')
  await service.kill()
  t.equal(hooks.all().length, 0)
  await service.start()
  await hooks.up()
  for (const { messageId } of sent) {
    const story = await hooks.told(messageId, 4)
    t.same([...story].sort(), ['delivered', 'message.sent', 'read', 'sent'])
  }
  t.equal(new Set(hooks.taken().map(hook => hook.event.id)).size, 200)
  t.ok(hooks.taken().every(hook => isSigned(hook, hooks.secret)))
  await tenant.ask('DELETE', `/v1/webhooks/destinations/${hooks.destinationId}`)
})

t.test('a receiver that fails the first tries gets every event in order per message', async t => {
  const hooks = await tenant.receiver(t)
  const refused = new Set<string>()
  hooks.answers(({ event }) => {
    if (event.type !== 'message.sent' || refused.has(event.id)) return 204
    refused.add(event.id)
    return 503
  })
  const { messageId } = await tenant.send(channel.id)
  const story = await hooks.told(messageId, 4)
  t.same([...story].sort(), ['delivered', 'message.sent', 'read', 'sent'])
  const attempts = hooks.all().filter(({ event }) => event.type === 'message.sent')
  t.same(
    attempts.map(hook => hook.taken),
    [false, true]
  )
  t.equal(new Set(attempts.map(hook => hook.headers['x-service-delivery-id'])).size, 1, 'one delivery, tried twice')
  t.same(attempts[0]?.rawBody, attempts[1]?.rawBody)
  const filter = `destinationId=${hooks.destinationId}&eventType=message.sent&state=delivered`
  const record = await eventually('the record of the delivery', async () => {
    const { body } = await tenant.ask<{ items: object[] }>('GET', `/v1/webhooks/deliveries?${filter}`)
    return body.items[0]
  })
  t.match(record, { state: 'delivered', attempts: 2, lastStatus: 204, lastError: null, nextAttemptAt: null })
  await tenant.ask('DELETE', `/v1/webhooks/destinations/${hooks.destinationId}`)
})

t.test('a receiver that hangs delays neither another destination nor another tenant', async t => {
  const other = await world.tenant('globex')
  const theirs = await other.officialNumber(official)
  const stuck = await tenant.receiver(t)
  const fast = await tenant.receiver(t)
  const foreign = await other.receiver(t)
  stuck.answers(() => 'hang')
  const mine = await Promise.all(Array.from({ length: 40 }, () => tenant.send(channel.id)))
  await eventually('the stuck receiver is full', () => stuck.all().length >= 16)
  const after = [await tenant.send(channel.id), await other.send(theirs.id)] as const
  await fast.told(after[0].messageId, 4)
  await foreign.told(after[1].messageId, 4)
  for (const { messageId } of mine) await fast.told(messageId, 4)
  t.same(stuck.taken(), [])
  stuck.answers(() => 204)
  const events = () => new Set(stuck.taken().map(hook => hook.event.id)).size
  await eventually('all 164 events, late', () => events() === 164, { seen: events })
  for (const { destinationId } of [stuck, fast])
    await tenant.ask('DELETE', `/v1/webhooks/destinations/${destinationId}`)
})

t.test('a receiver that says 410 is disabled and its deliveries are dead', async t => {
  const hooks = await tenant.receiver(t)
  hooks.answers(() => 410)
  await tenant.send(channel.id)
  await eventually('the end of the destination', async () => {
    const { body } = await tenant.ask<{ enabled: boolean }>('GET', `/v1/webhooks/destinations/${hooks.destinationId}`)
    return !body.enabled
  })
  const before = hooks.all().length
  const { messageId } = await tenant.send(channel.id)
  await tenant.reaches(messageId, 'read')
  t.equal(hooks.all().filter(({ event }) => event.data.messageId === messageId).length, 0)
  t.ok(before >= 1)
  const { body } = await tenant.ask<{ items: { state: string }[] }>(
    'GET',
    `/v1/webhooks/deliveries?destinationId=${hooks.destinationId}`
  )
  t.ok(body.items.length > 0 && body.items.every(item => item.state === 'dead'))
})

t.test('a redirect is not followed', async t => {
  const hooks = await tenant.receiver(t)
  const elsewhere = await tenant.receiver(t)
  await tenant.ask('DELETE', `/v1/webhooks/destinations/${elsewhere.destinationId}`)
  let answered = 0
  hooks.answers(() => (++answered <= 2 ? { status: 302, headers: { location: elsewhere.url } } : 204))
  const { messageId } = await tenant.send(channel.id)
  await hooks.told(messageId, 4)
  t.equal(elsewhere.all().length, 0)
})
