import { join } from 'node:path'
import t from 'tap'
import { ALL_SHARDS } from '../../src/domain/shards.ts'
import { at, createHistory, type History, idOf, TENANT } from './history.ts'
import { CHANNEL, CONTACT, inbound, message } from './message-events.ts'
import { dump, foldLive, viewsOf } from './spec.ts'

const OTHER = idOf('ct', 'other')
const KEY_STREAM = `keys-${TENANT}.blindindex.1`

const created = (history: History) =>
  history.append(KEY_STREAM, [
    { type: 'ContactKeyCreated', at: at(1), data: { contactId: CONTACT, tenantId: TENANT, index: 'i', wrapped: 'w' } }
  ])
const erasure = (history: History, type: string, second: number) =>
  history.append(`erasure-${CONTACT}`, [{ type, at: at(second), data: { contactId: CONTACT, tenantId: TENANT } }])

t.test('an erased contact has no key stream; what is left to do knows it until that is done', async t => {
  const history = createHistory()
  created(history)
  message(history, 'one', 2)
  const file = join(t.testdir({}), 'views.db')
  const known = await viewsOf(file, history)
  t.equal(known.contactStream(CONTACT), KEY_STREAM)
  t.equal(known.nextTodoDue(ALL_SHARDS), null)
  known.close()

  erasure(history, 'ContactErased', 10)
  const pages = await foldLive(file, history)
  t.same(pages[0]?.touched, { contact: [CONTACT], todo: ['finish_erasure'] })
  const erased = await viewsOf(file, history)
  t.equal(erased.contactStream(CONTACT), null)
  t.same(erased.dueTodos(at(10), ALL_SHARDS, 10), [
    { kind: 'finish_erasure', stream: `erasure-${CONTACT}`, subject: CONTACT, due: at(10) }
  ])
  const left = { contactId: CONTACT, tenantId: TENANT, contactIds: [CONTACT], streams: [KEY_STREAM] }
  t.same(erased.erasure(CONTACT), left)
  t.same(erased.dueTodos(at(9), ALL_SHARDS, 10), [])
  t.equal(erased.nextTodoDue(ALL_SHARDS), at(10))
  t.equal(erased.messagesOf(TENANT, CONTACT), 1, 'counts stay')
  erased.close()

  erasure(history, 'ContactErasureCompleted', 11)
  const done = await viewsOf(file, history)
  t.same(done.dueTodos(at(100), ALL_SHARDS, 10), [])
  t.equal(done.erasure(CONTACT), null)
  t.equal(done.messagesOf(TENANT, CONTACT), 1)
  done.close()
  t.notOk(JSON.stringify(dump(file)).includes('blindindex'), 'nothing of the views leads to the key any more')
})

t.test('the erasure of a contact without a key has nothing but its tenant', async t => {
  const history = createHistory()
  erasure(history, 'ContactErased', 10)
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  t.match(views.dueTodos(at(10), ALL_SHARDS, 10), [{ subject: CONTACT }])
  t.match(views.erasure(CONTACT), { tenantId: TENANT, contactIds: [CONTACT], streams: [] })
  views.close()
})

t.test('who knows whom, and since when', async t => {
  const history = createHistory()
  message(history, 'not accepted', 1)
  inbound(history, 'first', 5)
  inbound(history, 'second', 9)
  inbound(history, 'other channel', 20, { channelId: idOf('ch', 'second') })
  message(history, 'accepted', 30, ['MessageSent'], { contactId: OTHER })
  message(history, 'also accepted', 40, ['MessageSent'])
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  t.equal(views.lastInboundAt(CHANNEL, CONTACT), at(9))
  t.ok(views.knows(CHANNEL, CONTACT))
  t.ok(views.knows(CHANNEL, OTHER))
  t.equal(views.lastInboundAt(CHANNEL, OTHER), null, 'accepted, but never heard')
  t.equal(views.lastInboundAt(CHANNEL, idOf('ct', 'unheard of')), null)
  t.equal(views.lastInboundAt(idOf('ch', 'unheard of'), CONTACT), null)
  t.notOk(views.knows(idOf('ch', 'second'), OTHER))
  views.close()
})

t.test('an opt-out stands until it is taken back, in its tenant only', async t => {
  const history = createHistory()
  const wish = (type: string, second: number) =>
    history.append(`optout-${TENANT}.hash`, [
      { type, at: at(second), data: { tenantId: TENANT, index: 'hash', by: 'keyword' } }
    ])
  wish('ContactOptedOut', 1)
  const file = join(t.testdir({}), 'views.db')
  const out = await viewsOf(file, history)
  t.ok(out.isOptedOut(TENANT, 'hash'))
  t.notOk(out.isOptedOut(TENANT, 'other'))
  t.notOk(out.isOptedOut('tn_other', 'hash'))
  out.close()
  wish('ContactOptedIn', 2)
  const back = await viewsOf(file, history)
  t.notOk(back.isOptedOut(TENANT, 'hash'))
  back.close()
})

t.test('failures that the provider caused, after a moment and after the last release', async t => {
  const history = createHistory()
  const failure = (name: string, second: number, data: object) =>
    message(history, name, second - 1, [['MessageFailed', data]])
  failure('provider', 10, { code: 'provider_rejected', by: 'provider' })
  failure('exhausted', 20, { code: 'retries_exhausted', by: 'provider' })
  failure('ours', 21, { code: 'provider_rejected', by: 'service' })
  for (const code of ['message_expired', 'recipient_opted_out', 'template_call_invalid', 'invalid_recipient'])
    failure(code, 22, { code, by: 'provider' })
  message(history, 'elsewhere', 22, ['MessageFailed'], { channelId: idOf('ch', 'second') })
  const file = join(t.testdir({}), 'views.db')
  const pages = await foldLive(file, history)
  t.same(pages[0]?.touched.failure, [CHANNEL, idOf('ch', 'second')])
  const views = await viewsOf(file, history)
  t.equal(views.failuresSince(CHANNEL, at(0)), 2)
  t.equal(views.failuresSince(CHANNEL, at(10)), 1)
  t.equal(views.failuresSince(CHANNEL, at(20)), 0)
  t.equal(views.failuresSince(idOf('ch', 'unheard of'), at(0)), 0)
  views.close()
  history.append(`channel-${CHANNEL}`, [{ type: 'ChannelLimitReleased', at: at(30), data: { termsVersion: 'v1' } }])
  failure('again', 30, { code: 'provider_rejected', by: 'provider' })
  const released = await viewsOf(file, history)
  t.equal(released.failuresSince(CHANNEL, at(0)), 1, 'a release starts a new window')
  released.close()
})

t.test('of a channel that fails for ever the newest thousand are kept', async t => {
  const history = createHistory()
  for (let index = 0; index < 1_100; index++) message(history, `${index}`, index, ['MessageFailed'])
  const file = join(t.testdir({}), 'views.db')
  const views = await viewsOf(file, history)
  t.equal(views.failuresSince(CHANNEL, at(0)), 1_000)
  t.equal(views.failuresSince(CHANNEL, at(1_090)), 10)
  views.close()
  t.equal(dump(file).provider_failures?.length, 1_000)
})
