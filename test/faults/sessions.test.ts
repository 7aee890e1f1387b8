/** What an unofficial instance may do to a send, to its acknowledgements and to its session. */
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { someone, storyOf } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, {
  unofficial: { engine: 'GOWS' },
  settings: { PROVIDER_TIMEOUT_SECONDS: '1.5', INDETERMINATE_TIMEOUT_SECONDS: '30' }
})
const { unofficial } = world
const tenant = await world.tenant('acme')
const hooks = await tenant.receiver(t)
const { id, session } = await tenant.unofficialNumber(unofficial, '5511970000001')

t.test('acknowledgements that come before the answer of the send are held and then apply', async t => {
  await unofficial.fault('ack_before_answer')
  const { messageId } = await tenant.send(id, { text: 'early acks' })
  t.match(await tenant.reaches(messageId, 'read'), { attempts: 1, lastError: null })
  t.same(await hooks.told(messageId, 4), ['message.sent', 'sent', 'delivered', 'read'])
  t.equal(await unofficial.timesAccepted('early acks'), 1)
})

t.test('acknowledgements that come twice, or in the wrong order, end in the right state', async t => {
  await unofficial.fault('duplicate_ack', { match: { text: 'twice' } })
  await unofficial.fault('reorder_acks', { match: { text: 'reordered' } })
  const twice = await tenant.send(id, { text: 'twice' })
  const reordered = await tenant.send(id, { text: 'reordered' })
  await tenant.reaches(twice.messageId, 'read')
  const mixed = await tenant.reaches(reordered.messageId, 'read')
  t.same(await hooks.told(twice.messageId, 4), ['message.sent', 'sent', 'delivered', 'read'])
  const expected = storyOf(mixed)
  t.same(await hooks.told(reordered.messageId, expected.length), expected)
})

for (const [name, fault] of [
  ['a connection that breaks after the instance has sent', 'reset'],
  ['a call that hangs after the instance has sent', 'hang'],
  ['a server error after the instance has sent', 'error_500']
] as const)
  t.test(`${name} is settled by the echo and the reports, and nothing is sent twice`, async t => {
    const text = `lost by ${fault}`
    await unofficial.fault(fault, { accept: true, match: { text } })
    const { messageId } = await tenant.send(id, { text })
    const read = await tenant.reaches(messageId, 'read')
    t.match(read, { attempts: 1, lastError: null })
    t.equal(await unofficial.timesAccepted(text), 1)
    const expected = storyOf(read)
    t.same(expected.slice(0, 2), ['message.sent', 'sent'])
    t.same(await hooks.told(messageId, expected.length), expected)
  })

t.test('a 201 without an id is indeterminate until an echo or an acknowledgement', async t => {
  await unofficial.fault('empty_201', { match: { text: 'no id' } })
  const { messageId } = await tenant.send(id, { text: 'no id' })
  t.match(await tenant.reaches(messageId, 'read'), { attempts: 1, lastError: null })
  t.equal(await unofficial.timesAccepted('no id'), 1)
})

t.test('a refusal is failed with our code', async t => {
  await unofficial.fault('refuse', { status: 422, match: { text: 'refused' } })
  const { messageId } = await tenant.send(id, { text: 'refused' })
  t.match(await tenant.reaches(messageId, 'failed'), { lastError: 'provider_rejected', attempts: 1 })
  t.same(await hooks.told(messageId, 1), ['failed'])
})

t.test('a callback with a wrong signature, of another session or unsigned is 403 and recorded nowhere', async t => {
  const url = `${world.url}/webhooks/unofficial/${session}`
  const event = {
    id: 'evt_1',
    event: 'message',
    session,
    payload: { id: 'false_5521999990000@c.us_AAA', from: '5521999990000@c.us', fromMe: false, body: 'forged' }
  }
  const before = hooks.taken().length
  for (const more of [{}, { hmacKey: 'guessed' }])
    t.match(await unofficial.control('POST', 'webhook', { url, body: event, ...more }), { status: 403 })
  await unofficial.control('POST', `sessions/${session}/inbound`, {
    from: someone(),
    message: { kind: 'text', text: 'true' }
  })
  const { event: got } = await hooks.got('message.received', one => one.type === 'message.received')
  t.match(got.data.message, { text: 'true' })
  t.ok(hooks.taken().length > before)
})

t.test('a session that drops makes the number down; sends wait and go out when it is back', async t => {
  await unofficial.control('POST', `sessions/${session}/drop`)
  await hooks.got('channel.status down', one => one.type === 'channel.status' && one.data.state === 'down')
  t.match(await tenant.channel(id), { state: 'down', lastError: 'session_dropped' })
  const { messageId } = await tenant.send(id, { text: 'while down' })
  t.equal((await tenant.track(messageId)).state, 'queued')
  await unofficial.control('POST', `sessions/${session}/recover`)
  t.match(await tenant.reaches(messageId, 'read'), { attempts: 1 })
  t.equal(await unofficial.timesAccepted('while down'), 1)
  t.match(await tenant.channel(id), { state: 'connected', lastError: null })
  const { body } = await tenant.ask<{ items: object[] }>('GET', `/v1/channels/${id}/events`)
  t.match(body.items.slice(0, 2), [
    { fromState: 'down', toState: 'connected', source: 'supervisor' },
    { fromState: 'connected', toState: 'down', reason: 'session_dropped', source: 'supervisor' }
  ])
})

t.test('a restriction of new contacts (463) fails the message, sets the flag and refuses new contacts', async t => {
  const known = someone()
  await unofficial.control('POST', `sessions/${session}/inbound`, {
    from: known,
    message: { kind: 'text', text: 'Hi' }
  })
  await hooks.got('the known contact', one => one.data.from === known)
  await unofficial.fault('ack_error', { error: 'account_restricted (463)', match: { text: 'to a new one' } })
  const { messageId } = await tenant.send(id, { text: 'to a new one' })
  t.match(await tenant.reaches(messageId, 'failed'), { lastError: 'channel_restricted' })
  await eventually('the flag', async () => (await tenant.channel(id)).restricted.active)
  t.equal((await tenant.channel(id)).state, 'connected')
  const refused = await tenant.trySend(id)
  t.equal(refused.status, 409)
  t.equal(refused.body.error?.code, 'channel_restricted')
  t.equal((await tenant.trySend(id, { to: known })).status, 202, 'existing conversations continue')
})
