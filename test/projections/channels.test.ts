import { join } from 'node:path'
import t from 'tap'
import type { Event } from '../../src/domain/event.ts'
import { BadCursor } from '../../src/projections/cursor.ts'
import { at, createHistory, type History, idOf, TENANT } from './history.ts'
import { viewsOf } from './spec.ts'

const CHANNEL = idOf('ch', 'one')
const NUMBER = '4915112345678'

function connect(history: History, name: string, second: number, more = {}): string {
  const channelId = idOf('ch', name)
  const data = {
    channelId,
    tenantId: TENANT,
    kind: 'official',
    label: name,
    number: NUMBER,
    source: 'connect',
    ...more
  }
  history.append(`channel-${channelId}`, [{ type: 'ChannelConnected', at: at(second), data }])
  return channelId
}
const event = (type: string, second: number, data: unknown = {}): Event => ({ type, at: at(second), data })

t.test('a number and its flags', async t => {
  const history = createHistory()
  connect(history, 'one', 0, { phoneNumberId: 'pn1', wabaId: 'waba1', quarantineUntil: at(900) })
  history.append(`channel-${CHANNEL}`, [
    event('ChannelRenamed', 1, { label: 'support' }),
    event('ChannelLimited', 2, { failures: 10, windowSeconds: 300 }),
    event('ChannelRestricted', 3, { code: 'provider_restricted', until: at(400) }),
    event('ChannelWentDown', 4, { source: 'supervisor', reason: 'session_dropped' })
  ])
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  t.same(views.channel(TENANT, CHANNEL), {
    id: CHANNEL,
    tenantId: TENANT,
    kind: 'official',
    state: 'down',
    label: 'support',
    number: NUMBER,
    phoneNumberId: 'pn1',
    wabaId: 'waba1',
    sessionName: null,
    engine: null,
    lastError: 'session_dropped',
    stateChangedAt: at(4),
    limitedSince: at(2),
    isRestricted: true,
    restrictedUntil: at(400),
    quarantineUntil: at(900),
    createdPosition: 1
  })
  t.equal(views.channel('tn_other', CHANNEL), null)
  t.equal(views.channelByRef(TENANT, NUMBER)?.id, CHANNEL)
  t.equal(views.channelByRef(TENANT, CHANNEL)?.id, CHANNEL)
  t.equal(views.channelByRef('tn_other', NUMBER), null)
  t.same(
    views.channelsOfWaba('waba1').map(row => row.id),
    [CHANNEL]
  )
  views.close()
})

t.test(
  'a deleted number is gone from lists and references, and found by id; its number lives on in a new one',
  async t => {
    const history = createHistory()
    const session = { name: 's1', baseUrl: 'https://pool.example', engine: 'noweb', own: false }
    const old = connect(history, 'old', 0, { phoneNumberId: 'pn1' })
    history.append(`channel-${old}`, [event('ChannelDeleted', 1, { source: 'admin' })])
    const fresh = connect(history, 'fresh', 2, { phoneNumberId: 'pn1', session })
    const older = connect(history, 'older', 3, { phoneNumberId: 'pn1' })
    history.append(`channel-${older}`, [event('ChannelDeleted', 4, { source: 'admin' })])
    const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
    t.equal(views.channel(TENANT, old)?.state, 'deleted')
    t.equal(views.channelById(old)?.state, 'deleted')
    t.equal(views.channelByRef(TENANT, old), null)
    t.equal(views.channelByRef(TENANT, NUMBER)?.id, fresh)
    t.match(views.channelById(fresh), { sessionName: 's1', engine: 'noweb' })
    t.same(
      views.channelsByPhoneNumberId('pn1').map(row => row.id),
      [fresh, older, old]
    )
    t.same(views.channelIds(), [fresh])
    views.close()
  }
)

t.test('the list of numbers: newest first, stable while more come, foreign cursors refused', async t => {
  const history = createHistory()
  for (let index = 0; index < 5; index++) connect(history, `number ${index}`, index)
  const file = join(t.testdir({}), 'views.db')
  const views = await viewsOf(file, history)
  const first = views.channels(TENANT, 2, null)
  views.close()
  connect(history, 'newcomer', 9)
  const later = await viewsOf(file, history)
  const second = later.channels(TENANT, 2, first.nextCursor)
  const third = later.channels(TENANT, 2, second.nextCursor)
  const labels = [...first.items, ...second.items, ...third.items].map(row => row.label)
  t.same(
    labels,
    [4, 3, 2, 1, 0].map(index => `number ${index}`)
  )
  t.equal(third.nextCursor, null)
  const auditCursor = later.audit(CHANNEL, 1, null).nextCursor ?? 'YXVkaXQ6NQ'
  for (const cursor of [
    '',
    'x',
    '5',
    `${first.nextCursor}=`,
    auditCursor,
    Buffer.from('channels:-1').toString('base64url')
  ])
    t.throws(() => later.channels(TENANT, 2, cursor), BadCursor)
  t.throws(() => later.audit(CHANNEL, 2, first.nextCursor), BadCursor)
  t.throws(() => later.deliveries(TENANT, {}, 2, first.nextCursor), BadCursor)
  later.close()
})

t.test('the audit timeline: moves with from and to, and what else its owner or the platform changed', async t => {
  const history = createHistory()
  connect(history, 'one', 0)
  const stream = `channel-${CHANNEL}`
  history.append(
    stream,
    [
      event('ChannelWentDown', 1, { source: 'supervisor', reason: 'session_dropped' }),
      event('ChannelReconnecting', 2, { source: 'reconnect' }),
      event('ChannelReconnected', 3, { source: 'reconnect', number: '4916' }),
      event('ChannelTroubleRecorded', 4, { code: 'credentials_rejected' })
    ],
    { source: 'supervisor' }
  )
  history.append(stream, [event('ChannelCredentialsRotated', 5)], { source: 'api', trace: 'tr_rotation' })
  history.append(stream, [event('ChannelLimited', 6, { failures: 10, windowSeconds: 300 })], { source: 'dispatcher' })
  history.append(stream, [event('ChannelDeleted', 7, { source: 'admin' })])
  connect(history, 'two', 8)
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  const page = views.audit(CHANNEL, 6, null)
  const rest = views.audit(CHANNEL, 6, page.nextCursor)
  t.equal(rest.nextCursor, null)
  const rows = [...page.items, ...rest.items].map(row => [row.kind, row.fromState, row.toState, row.reason, row.source])
  t.same(rows, [
    ['state', 'connected', 'deleted', null, 'admin'],
    ['flag', null, null, 'limited', 'system'],
    ['credentials', null, null, 'rotated', 'admin'],
    ['credentials', null, null, 'credentials_rejected', 'supervisor'],
    ['state', 'connecting', 'connected', null, 'reconnect'],
    ['state', 'down', 'connecting', null, 'reconnect'],
    ['state', 'connected', 'down', 'session_dropped', 'supervisor'],
    ['state', 'connecting', 'connected', null, 'connect']
  ])
  t.match(page.items[2], { activeNumber: '4916', traceId: 'tr_rotation', createdAt: at(5), id: /^evt_/ })
  t.match(views.auditAt(CHANNEL, 2), { toState: 'down', activeNumber: NUMBER })
  t.equal(views.auditAt(idOf('ch', 'two'), 2), null)
  views.close()
})
