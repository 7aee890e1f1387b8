import { join } from 'node:path'
import t from 'tap'
import type { Event } from '../../src/domain/event.ts'
import { ALL_SHARDS } from '../../src/domain/shards.ts'
import { at, createHistory, idOf, TENANT } from './history.ts'
import { viewsOf } from './spec.ts'

const event = (type: string, second: number, data: unknown = {}): Event => ({ type, at: at(second), data })
const CHANNEL = idOf('ch', 'one')
const ATTEMPT = idOf('cxn', 'one')
const DESTINATION = idOf('whd', 'one')

t.test('tenants, their keys and risks', async t => {
  const history = createHistory()
  const key = (keyId: string, more = {}) => ({
    keyId,
    name: keyId,
    digest: `digest of ${keyId}`,
    permissions: ['messages:send'],
    lastFour: 'abcd',
    ...more
  })
  history.append(`tenant-${TENANT}`, [
    event('TenantCreated', 0, { tenantId: TENANT, name: 'acme' }),
    event('ApiKeyCreated', 1, key('key_b', { expiresAt: at(900) })),
    event('ApiKeyCreated', 2, key('key_a')),
    event('ApiKeyRevoked', 3, { keyId: 'key_b', digest: 'digest of key_b' }),
    event('RiskAccepted', 4, { track: 'unofficial', termsVersion: 'unofficial-v1' })
  ])
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  t.equal(views.tenantByName('acme'), TENANT)
  t.equal(views.tenantByName('nobody'), null)
  t.same(views.tenantIds(), [TENANT])
  t.same(views.keyByDigest('digest of key_a'), {
    id: 'key_a',
    tenantId: TENANT,
    name: 'key_a',
    permissions: ['messages:send'],
    expiresAt: null,
    createdAt: at(2),
    lastFour: 'abcd',
    revoked: false
  })
  t.match(views.keyByDigest('digest of key_b'), { revoked: true, expiresAt: at(900) })
  t.equal(views.keyByDigest('another'), null)
  t.same(
    views.keys(TENANT).map(row => row.id),
    ['key_b', 'key_a']
  )
  t.ok(views.hasRisk(TENANT, 'unofficial', 'unofficial-v1'))
  t.notOk(views.hasRisk(TENANT, 'unofficial', 'unofficial-v2'))
  t.same(views.risks(TENANT), [{ track: 'unofficial', termsVersion: 'unofficial-v1', acceptedAt: at(4) }])
  views.close()
})

t.test('a claim leaves the channel to be finished, a deletion leaves the claim to be released', async t => {
  const history = createHistory()
  const dir = t.testdir({})
  const creation = {
    channelId: CHANNEL,
    tenantId: TENANT,
    kind: 'official',
    label: null,
    number: '49',
    source: 'connect'
  }
  const todos = async () => {
    const views = await viewsOf(join(dir, 'views.db'), history)
    const due = views.dueTodos(at(100), ALL_SHARDS, 10)
    t.equal(views.nextTodoDue(ALL_SHARDS), due[0]?.due ?? null)
    views.close()
    return due
  }
  history.append('claim-number', [event('NumberClaimed', 1, { creation })])
  t.same(await todos(), [{ kind: 'finish_number', subject: CHANNEL, stream: 'claim-number', due: at(1) }])
  history.append(`channel-${CHANNEL}`, [event('ChannelConnected', 2, creation)])
  t.same(await todos(), [])
  history.append(`channel-${CHANNEL}`, [event('ChannelDeleted', 3, { source: 'admin' })])
  t.same(await todos(), [{ kind: 'release_number', subject: CHANNEL, stream: 'claim-number', due: at(3) }])
  history.append('claim-number', [event('NumberReleased', 4, { channelId: CHANNEL })])
  t.same(await todos(), [])
})

t.test('an attempt: live until it is over, expires, is finished once paired', async t => {
  const history = createHistory()
  const dir = t.testdir({})
  const stream = `attempt-${ATTEMPT}`
  const look = async () => {
    const views = await viewsOf(join(dir, 'views.db'), history)
    const found = {
      live: views.liveAttempts(),
      next: views.nextTodoDue(ALL_SHARDS),
      due: views.dueTodos(at(300), ALL_SHARDS, 10)
    }
    views.close()
    return found
  }
  const data = {
    attemptId: ATTEMPT,
    tenantId: TENANT,
    label: null,
    session: { name: ATTEMPT, baseUrl: 'http://instance', engine: 'noweb', own: false },
    expiresAt: at(600),
    termsVersion: 'v1'
  }
  history.append(stream, [event('AttemptStarted', 1, data), event('AttemptQrOffered', 2)])
  t.same(await look(), { live: [ATTEMPT], next: at(600), due: [] })
  history.append(stream, [event('AttemptPaired', 3, { channelId: CHANNEL, number: '49' })])
  const finish = { kind: 'finish_pairing', stream, subject: ATTEMPT, due: at(3) }
  t.same(await look(), { live: [ATTEMPT], next: at(3), due: [finish] })
  history.append(stream, [event('AttemptConnected', 4, { channelId: CHANNEL, number: '49' })])
  t.same(await look(), { live: [], next: null, due: [] })
})

t.test('a destination is finished when its own stream stands, or when it is taken back', async t => {
  const history = createHistory()
  const dir = t.testdir({})
  const kinds = async () => {
    const views = await viewsOf(join(dir, 'views.db'), history)
    const due = views.dueTodos(at(100), ALL_SHARDS, 10)
    views.close()
    return due.map(todo => [todo.kind, todo.subject, todo.stream])
  }
  const tenant = `tenant-${TENANT}`
  const other = idOf('whd', 'other')
  history.append(tenant, [
    event('DestinationRegistered', 1, { destinationId: DESTINATION, url: 'https://a.example' }),
    event('DestinationRegistered', 2, { destinationId: other, url: 'https://b.example' })
  ])
  t.same(await kinds(), [
    ['finish_destination', DESTINATION, tenant],
    ['finish_destination', other, tenant]
  ])
  const data = { destinationId: DESTINATION, tenantId: TENANT, url: 'https://a.example', secretLast4: 'abcd' }
  history.append(`destination-${DESTINATION}`, [event('DestinationCreated', 3, data)])
  history.append(tenant, [event('DestinationDeregistered', 4, { destinationId: other })])
  t.same(await kinds(), [])
})
