/** Life of a number: made, disconnected, deleted, and never another tenant's business. */
import t from 'tap'
import { type Channel, type Destination, officialBody } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t)
const { official } = world
const tenant = await world.tenant('acme')
const stranger = await world.tenant('globex')

t.test('an official number is created connected, with the number that the platform knows', async t => {
  const { phoneNumberId, number } = await official.newNumber()
  const made = await tenant.ask<Channel>('POST', '/v1/channels', officialBody(phoneNumberId))
  t.equal(made.status, 201)
  const { id, stateChangedAt, ...rest } = made.body as Channel & { stateChangedAt: string }
  t.same(rest, {
    kind: 'official',
    provider: 'official_platform',
    state: 'connected',
    label: 'Support',
    number,
    engine: null,
    lastError: null,
    limited: { active: false, since: null },
    restricted: { active: false, until: null }
  })
  t.match(id, /^ch_/)
  t.match(stateChangedAt, /Z$/)
  const read = await tenant.ask<Channel & { tags: string[] }>('GET', `/v1/channels/${id}`)
  t.same(read.body, { ...made.body, tags: [] })
  const listed = await tenant.ask<{ items: (Channel & { phoneNumberId: string })[] }>('GET', '/v1/channels')
  t.match(listed.body.items, [{ id, phoneNumberId, rateLimitPerMinute: 0, health: null }])
})

t.test('credentials that the platform refuses are 422 and leave nothing behind', async t => {
  const { phoneNumberId } = await official.newNumber()
  const before = await tenant.ask<{ items: Channel[] }>('GET', '/v1/channels')
  const refused = await tenant.ask('POST', '/v1/channels', officialBody(phoneNumberId, 'EAABnoSuchToken'))
  t.equal(refused.status, 422)
  t.equal(refused.body.error?.code, 'credentials_rejected')
  t.notMatch(JSON.stringify(refused.body), /EAABnoSuchToken/)
  t.same((await tenant.ask('GET', '/v1/channels')).body, before.body)
  t.equal((await tenant.ask('POST', '/v1/channels', officialBody(phoneNumberId))).status, 201, 'the number is free')
})

t.test('a platform that cannot be reached is 502 and leaves nothing behind', async t => {
  const { phoneNumberId } = await official.newNumber()
  await official.online(false)
  const refused = await tenant
    .ask('POST', '/v1/channels', officialBody(phoneNumberId))
    .finally(() => official.online(true))
  t.equal(refused.status, 502)
  t.equal(refused.body.error?.code, 'provider_unavailable')
  t.equal((await tenant.ask('POST', '/v1/channels', officialBody(phoneNumberId))).status, 201, 'the number is free')
})

t.test('a number belongs to one live channel, of one tenant', async t => {
  const { phoneNumberId, id } = await tenant.officialNumber(official)
  for (const asker of [stranger, tenant]) {
    const second = await asker.ask('POST', '/v1/channels', officialBody(phoneNumberId))
    t.equal(second.status, 409)
    t.equal(second.body.error?.code, 'waba_number_unavailable')
  }
  const deleted = await tenant.ask<Channel>('DELETE', `/v1/channels/${id}`)
  t.equal(deleted.status, 200)
  t.equal(deleted.body.state, 'deleted')
  t.equal((await tenant.ask('GET', `/v1/channels/${id}`)).status, 404)
  const gone = await tenant.trySend(id)
  t.equal(gone.status, 404)
  t.equal(gone.body.error?.code, 'channel_not_found')
  const taken = await stranger.ask<Channel>('POST', '/v1/channels', officialBody(phoneNumberId))
  t.equal(taken.status, 201, 'its number is free again at once')
  t.not(taken.body.id, id)
})

t.test('a disconnected number refuses sends with 503 and keeps what was accepted before', async t => {
  const hooks = await tenant.receiver(t)
  const { id } = await tenant.officialNumber(official)
  const earlier = await tenant.send(id, { key: 'before-disconnect' })
  await tenant.reaches(earlier.messageId, 'read')
  const disconnected = await tenant.ask<Channel>('POST', `/v1/channels/${id}/disconnect`)
  t.equal(disconnected.status, 200)
  t.equal(disconnected.body.state, 'disconnected')
  const refused = await tenant.trySend(id, { key: 'after-disconnect' })
  t.equal(refused.status, 503)
  t.equal(refused.body.error?.code, 'channel_disconnected')
  const again = await tenant.send(id, { key: 'before-disconnect' })
  t.match(again, { messageId: earlier.messageId, idempotent: true }, 'the key decides, also on a blocked number')
  t.equal((await tenant.ask<Channel>('POST', `/v1/channels/${id}/disconnect`)).status, 200, 'twice is once')
  const { event } = await hooks.got(
    'channel.lifecycle',
    one => one.type === 'channel.lifecycle' && one.data.toState === 'disconnected'
  )
  t.same(event.data, { fromState: 'connected', toState: 'disconnected', reason: null, source: 'disconnect' })
  const { body } = await tenant.ask<{ items: Record<string, unknown>[] }>('GET', `/v1/channels/${id}/events`)
  t.match(body.items, [
    { kind: 'state', fromState: 'connected', toState: 'disconnected', source: 'disconnect' },
    { kind: 'state', toState: 'connected', source: 'register' }
  ])
  t.equal((await tenant.ask('DELETE', `/v1/webhooks/destinations/${hooks.destinationId}`)).status, 204)
})

t.test('a late report for a message of a deleted number is still recorded', async t => {
  const { id } = await tenant.officialNumber(official)
  await official.fault('no_status')
  const { messageId } = await tenant.send(id)
  await tenant.reaches(messageId, 'sent')
  await tenant.ask('DELETE', `/v1/channels/${id}`)
  t.equal((await official.status({ callbackData: messageId, status: 'read' })).status, 200)
  t.equal((await tenant.reaches(messageId, 'read')).lastError, null)
})

t.test('whatever belongs to another tenant answers 404, as if it were not there', async t => {
  const { id, number } = await tenant.officialNumber(official)
  const { messageId } = await tenant.send(id)
  const started = await tenant.startAttempt()
  const hook = await tenant.ask<Destination>('POST', '/v1/webhooks/destinations', { url: 'http://127.0.0.1:9/x' })
  const mine: readonly [string, string, string, unknown?][] = [
    ['GET', `/v1/messages/${messageId}`, 'resource_not_found'],
    ['POST', `/v1/channels/${id}/messages`, 'channel_not_found', sendBody],
    ['POST', `/v1/channels/${number}/messages`, 'channel_not_found', sendBody],
    ['GET', `/v1/channels/${id}`, 'channel_not_found'],
    ['PATCH', `/v1/channels/${id}`, 'channel_not_found', { label: 'Mine' }],
    ['POST', `/v1/channels/${id}/disconnect`, 'channel_not_found'],
    ['GET', `/v1/channels/${id}/events`, 'channel_not_found'],
    ['DELETE', `/v1/channels/${id}`, 'channel_not_found'],
    ['GET', `/v1/channels/connect/${started.body.attemptId}`, 'channel_not_found'],
    ['DELETE', `/v1/channels/connect/${started.body.attemptId}`, 'channel_not_found'],
    ['GET', `/v1/webhooks/destinations/${hook.body.id}`, 'resource_not_found'],
    ['DELETE', `/v1/webhooks/destinations/${hook.body.id}`, 'resource_not_found']
  ]
  for (const [method, path, code, body] of mine) {
    const answer = await stranger.ask(method, path, body)
    t.equal(answer.status, 404, `${method} ${path.replace(/_[a-z0-9]{26}/, '_…')}`)
    t.equal(answer.body.error?.code, code)
  }
  const theirs = await stranger.ask<{ items: { id: string }[] }>('GET', '/v1/channels')
  t.notOk(theirs.body.items.some(item => item.id === id))
  t.same((await stranger.ask<{ items: unknown[] }>('GET', '/v1/webhooks/destinations')).body.items, [])
  t.same((await stranger.ask<{ items: unknown[] }>('GET', '/v1/webhooks/deliveries')).body.items, [])
  t.equal((await tenant.channel(id)).state, 'connected', 'and nothing happened to it')
  t.equal((await tenant.ask('DELETE', `/v1/channels/connect/${started.body.attemptId}`)).status, 200)
})

const sendBody = { to: '5511912345678', content: { kind: 'text', text: 'Hi' }, idempotencyKey: 'theirs' }
