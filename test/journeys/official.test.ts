/** The main road of an official number: send, track to read, events out, messages in. */
import t from 'tap'
import { someone } from '../support/tenant.ts'
import { isSigned } from '../support/webhooks.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t)
const { official } = world
const tenant = await world.tenant('acme')
const channel = await tenant.officialNumber(official)
const hooks = await tenant.receiver(t)

t.test('a send is accepted at once, reaches the platform once and is tracked to read', async t => {
  const to = someone()
  const answer = await tenant.trySend(channel.id, { to, text: 'Your order is on its way', key: 'order-1' })
  t.equal(answer.status, 202)
  const { messageId, traceId } = answer.body
  t.same(answer.body, { idempotencyKey: 'order-1', idempotent: false, messageId, state: 'queued', traceId })
  t.match(messageId, /^msg_[0-9a-hjkmnp-tv-z]{26}$/)
  t.equal(answer.headers['x-trace-id'], traceId)
  const tracked = await tenant.reaches(messageId, 'read')
  t.same(Object.keys(tracked).sort(), [
    'attempts',
    'channelId',
    'createdAt',
    'events',
    'id',
    'lastError',
    'state',
    'toAddress',
    'traceId',
    'updatedAt'
  ])
  t.match(tracked, { id: messageId, channelId: channel.id, attempts: 1, lastError: null, traceId })
  t.equal(tracked.toAddress, `${to.slice(0, 4)}*****${to.slice(-4)}`)
  t.same(
    tracked.events.filter(event => event.outcome !== 'late').map(event => [event.state, event.outcome]),
    [
      ['queued', 'accepted'],
      ['dispatching', 'ok'],
      ['sent', 'ok'],
      ['sent', 'ok'],
      ['delivered', 'ok'],
      ['read', 'ok']
    ]
  )
  t.equal(await official.timesAccepted(messageId), 1)
  const [sent] = (await official.sends()).filter(send => send.callbackData === messageId)
  t.match(sent?.body, { to: `+${to}`, type: 'text', text: { body: 'Your order is on its way' } })
  t.notMatch(JSON.stringify(tracked), /on its way|wamid/)
})

t.test('the receiver gets message.sent, then sent, delivered and read, signed and in order', async t => {
  const to = someone()
  const metadata = { order: '1002', ação: 'é' }
  const { messageId, traceId } = await tenant.send(channel.id, { to, text: 'Olá 👋', metadata })
  t.same(await hooks.told(messageId, 4), ['message.sent', 'sent', 'delivered', 'read'])
  const mine = hooks.all().filter(hook => hook.event.data.messageId === messageId)
  const common = {
    tenantId: tenant.tenantId,
    channelId: channel.id,
    channelKind: 'official',
    channelNumber: channel.number,
    provider: 'official_platform',
    traceId
  }
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
  for (const hook of mine) {
    const { id, type, providerTimestamp, brokerTimestamp, data, ...envelope } = hook.event
    t.same(envelope, common, 'nothing but the fields of the envelope')
    t.match(id, /^evt_[0-9a-hjkmnp-tv-z]{26}$/)
    t.match(brokerTimestamp, time)
    if (data.status === 'delivered' || data.status === 'read') t.match(providerTimestamp, time)
    t.ok(isSigned(hook, hooks.secret), 'the signature is valid')
    t.notOk(isSigned(hook, `${hooks.secret}x`), 'and needs the secret')
    t.equal(hook.headers['content-type'], 'application/json')
    t.equal(hook.headers['x-service-event-id'], id)
    t.match(hook.headers['x-service-delivery-id'], /^dlv_/)
    t.match(hook.headers['user-agent'], /^ledgerline\/\d/)
    if (type === 'message.sent') t.same(data, { to, messageId, content: { kind: 'text', text: 'Olá 👋' }, metadata })
    else t.same(data, { messageId, status: data.status })
  }
  t.equal(new Set(mine.map(hook => hook.event.id)).size, 4, 'four events, each once')
})

t.test('metadata that was not given is not in the event', async t => {
  const { messageId } = await tenant.send(channel.id)
  const { event } = await hooks.got(
    'message.sent',
    one => one.type === 'message.sent' && one.data.messageId === messageId
  )
  t.notOk('metadata' in event.data)
})

t.test('the number works in place of the channel id', async t => {
  const { messageId } = await tenant.send(channel.number)
  t.equal((await tenant.reaches(messageId, 'read')).channelId, channel.id)
})

t.test('a message from a person becomes message.received, once, however often the platform tells it', async t => {
  const from = someone()
  const told = await official.inbound({
    phoneNumberId: channel.phoneNumberId,
    from,
    profileName: 'Ana',
    message: { type: 'text', text: { body: 'Where is my order?' } },
    duplicates: 2
  })
  t.equal(told.status, 200)
  const { event } = await hooks.got('message.received', one => one.type === 'message.received')
  t.match(event, { channelId: channel.id, channelNumber: channel.number, provider: 'official_platform' })
  const { messageId } = event.data
  t.same(event.data, {
    from,
    profileName: 'Ana',
    messageId,
    message: { kind: 'text', text: 'Where is my order?' }
  })
  t.match(messageId, /^msg_/)
  t.equal((await tenant.ask('GET', `/v1/messages/${messageId}`)).status, 404, 'it is not in tracking')

  await official.inbound({
    phoneNumberId: channel.phoneNumberId,
    from,
    message: { type: 'text', text: { body: 'Hello?' }, context: { id: told.ids[0], from: channel.number } }
  })
  const reply = await hooks.got('the reply', one => one.data.replyTo !== undefined)
  t.equal(reply.event.data.replyTo, messageId, 'a quoted message is named by its msg_ id')
  t.equal(hooks.taken().filter(hook => hook.event.type === 'message.received').length, 2)
})

t.test('one idempotency key from fifty requests at once is one message and one send', async t => {
  const to = someone()
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => tenant.trySend(channel.id, { key: 'the-same', to, text: `body ${n}` }))
  )
  t.same(new Set(answers.map(answer => answer.status)), new Set([202]))
  t.equal(new Set(answers.map(answer => answer.body.messageId)).size, 1)
  t.equal(answers.filter(answer => !answer.body.idempotent).length, 1, 'one of them was first')
  const messageId = answers[0]?.body.messageId ?? ''
  await tenant.reaches(messageId, 'read')
  t.equal(await official.timesAccepted(messageId), 1)
  const again = await tenant.send(channel.id, { key: 'the-same', to: someone() })
  t.match(again, { messageId, idempotent: true, state: 'queued' }, 'also when it is done')
  t.equal(await official.timesAccepted(messageId), 1)
})

t.test('a call that hangs delays its own recipient only; what outlives its ttl behind it fails unsent', async t => {
  const to = someone()
  await official.fault('slow', { match: { to }, ms: 1_500 })
  await official.fault('no_status', { match: { to } })
  const slow = await tenant.send(channel.id, { to })
  const behind = await tenant.send(channel.id, { to, ttlSeconds: 1 })
  const other = await tenant.send(channel.id)
  await tenant.reaches(other.messageId, 'read')
  t.equal((await tenant.track(slow.messageId)).state, 'dispatching', 'the other one did not wait for it')
  t.match(await tenant.reaches(behind.messageId, 'failed'), { lastError: 'message_expired', attempts: 0 })
  t.equal(await official.timesAccepted(behind.messageId), 0)
  t.same(await hooks.told(behind.messageId, 1), ['failed'])
  const { event } = await hooks.got('the failure', one => one.data.messageId === behind.messageId)
  t.same(event.data, { messageId: behind.messageId, status: 'failed', errorCode: 'message_expired' })
  await tenant.reaches(slow.messageId, 'sent')
})
