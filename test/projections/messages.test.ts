import { join } from 'node:path'
import t from 'tap'
import type { Event } from '../../src/domain/event.ts'
import { ALL_SHARDS } from '../../src/domain/shards.ts'
import { at, createHistory, type History, idOf, TENANT } from './history.ts'
import { viewsOf } from './spec.ts'

const CHANNEL = idOf('ch', 'one')
const CONTACT = idOf('ct', 'one')
const MESSAGE = idOf('msg', 'one')

const queued = (messageId = MESSAGE): Event => ({
  type: 'MessageQueued',
  at: at(0),
  data: { messageId, tenantId: TENANT, channelId: CHANNEL, contactId: CONTACT, contentKind: 'text' }
})
const started = (second: number, attempt: number): Event => ({
  type: 'MessageDispatchStarted',
  at: at(second),
  data: { attempt, dispatchId: 'd' }
})
const event = (type: string, second: number, data: unknown = {}, providerAt?: string): Event => ({
  type,
  at: at(second),
  data,
  ...(providerAt === undefined ? {} : { providerAt })
})

function given(...events: readonly Event[]): History {
  const history = createHistory()
  history.append(`message-${MESSAGE}`, events)
  return history
}

type Short = readonly [state: string, outcome: string, code: string | null]
const short = (entry: { state: string; outcome: string; detail: { code: string | null } }): Short => [
  entry.state,
  entry.outcome,
  entry.detail.code
]

t.test('the timeline of a message that is read', async t => {
  const history = given(
    queued(),
    started(1, 1),
    event('MessageSent', 2, { attempt: 1, by: 'answer', providerIdIndex: 'p1' }),
    event('MessageReportNoted', 3, { status: 'sent', outcome: 'ok' }, at(2.5)),
    event('MessageDelivered', 4, {}, at(3.5)),
    event('MessageRead', 5),
    event('MessageReportNoted', 6, { status: 'delivered', outcome: 'late' })
  )
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  const row = views.tracking(TENANT, MESSAGE)
  t.match(row, { id: MESSAGE, state: 'read', attempts: 1, lastError: null, createdAt: at(0), updatedAt: at(6) })
  t.same(row?.events.map(short), [
    ['queued', 'accepted', null],
    ['dispatching', 'ok', null],
    ['sent', 'ok', null],
    ['sent', 'ok', null],
    ['delivered', 'ok', null],
    ['read', 'ok', null],
    ['delivered', 'late', null]
  ])
  t.same(row?.events[3], {
    state: 'sent',
    outcome: 'ok',
    detail: { code: null },
    brokerTimestamp: at(3),
    providerTimestamp: at(2.5)
  })
  t.equal(views.tracking('tn_other', MESSAGE), null, 'of another tenant')
  t.equal(views.tracking(TENANT, idOf('msg', 'unknown')), null)
  t.equal(views.messageByProviderId(CHANNEL, 'p1'), MESSAGE)
  t.equal(views.messageByProviderId(idOf('ch', 'other'), 'p1'), null, 'an id counts within its channel')
  t.ok(views.knows(CHANNEL, CONTACT))
  views.close()
})

t.test('retries: channel trouble costs no attempt, exhaustion shows its cause', async t => {
  const history = given(
    queued(),
    started(1, 1),
    event('MessageRetryScheduled', 2, {
      attempt: 1,
      code: 'credentials_rejected',
      retryAt: at(9),
      channelTrouble: true
    }),
    started(9, 1),
    event('MessageRetryScheduled', 10, { attempt: 1, code: 'busy', retryAt: at(12) }),
    started(12, 2),
    event('MessageFailed', 13, { code: 'retries_exhausted', by: 'provider', cause: 'busy' })
  )
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  const row = views.tracking(TENANT, MESSAGE)
  t.match(row, { state: 'failed', attempts: 2, lastError: 'retries_exhausted' })
  t.same(row?.events.map(short).slice(-3), [
    ['dispatching', 'ok', null],
    ['dispatching', 'failed', 'busy'],
    ['failed', 'failed', 'retries_exhausted']
  ])
  t.notOk(views.knows(CHANNEL, CONTACT), 'nothing was accepted')
  views.close()
})

t.test('an unknown outcome, given up, then proven', async t => {
  const events = [
    queued(),
    started(1, 1),
    event('MessageDispatchUnknown', 2, { attempt: 1, code: 'timeout', timeoutAt: at(600) }),
    event('MessageFailed', 600, { code: 'dispatch_indeterminate', by: 'service' }),
    event('MessageSent', 700, { attempt: 1, by: 'report' }),
    event('MessageProviderIdLearned', 701, { providerIdIndex: 'p9' })
  ]
  const doubt = await viewsOf(join(t.testdir({ doubt: {} }), 'doubt', 'views.db'), given(...events.slice(0, 3)))
  t.match(doubt.tracking(TENANT, MESSAGE), { state: 'indeterminate', lastError: 'timeout' })
  t.ok(doubt.hasInDoubt(CHANNEL))
  t.equal(doubt.nextQueueDue(), at(600))
  t.match(doubt.dueInQueue(at(600), ALL_SHARDS, 10), [{ messageId: MESSAGE, due: 'timeout' }])
  doubt.close()

  const views = await viewsOf(join(t.testdir({}), 'views.db'), given(...events))
  t.match(views.tracking(TENANT, MESSAGE), { state: 'sent', lastError: null, updatedAt: at(700) })
  t.equal(views.messageByProviderId(CHANNEL, 'p9'), MESSAGE)
  t.notOk(views.hasInDoubt(CHANNEL))
  t.equal(views.nextQueueDue(), null)
  views.close()
})

t.test('an inbound message has an id for replies and makes an acquaintance, but is not tracked', async t => {
  const history = createHistory()
  const data = {
    messageId: MESSAGE,
    tenantId: TENANT,
    channelId: CHANNEL,
    channelKind: 'official',
    contactId: CONTACT,
    contentKind: 'text',
    providerIdIndex: 'in1'
  }
  history.append(`message-${MESSAGE}`, [event('MessageReceived', 1, data)])
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  t.equal(views.messageByProviderId(CHANNEL, 'in1'), MESSAGE)
  t.ok(views.knows(CHANNEL, CONTACT))
  t.equal(views.tracking(TENANT, MESSAGE), null)
  views.close()
})

t.test('reports are held until they are settled', async t => {
  const history = createHistory()
  const held = (second: number, providerIdIndex: string) =>
    event('ReportHeld', second, { channelId: CHANNEL, providerIdIndex, status: 'delivered' }, at(second - 1))
  const [first] = history.append(`inbox-${CHANNEL}`, [held(1, 'p1'), held(2, 'p2'), held(3, 'p1')])
  history.append(`inbox-${CHANNEL}`, [event('ReportSettled', 4, { heldId: first?.id })])
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  t.match(views.unsettledReports(CHANNEL, at(0), 10), [{ status: 'delivered', at: at(3), providerAt: at(2) }])
  t.same([views.heldSince(CHANNEL, at(3)), views.heldSince(CHANNEL, at(4))], [1, 0])
  t.same(
    views.unsettledReports(CHANNEL, at(0), 10).map(report => report.providerIdIndex),
    ['p1', 'p2']
  )
  t.same(
    views.unsettledReports(CHANNEL, at(3), 10).map(report => report.providerIdIndex),
    ['p1'],
    'old ones have had their time'
  )
  t.same(views.channelsWithHeldReports(), [CHANNEL])
  views.close()
})
