/** What the official platform may answer to a send, or fail to answer: always one message, and the truth about it. */
import t from 'tap'
import { WABA_ID } from '../support/platforms.ts'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const field = 'account_update'
const BARS_NEW = 'RESTRICTED_BIZ_INITIATED_MESSAGING'

const world = await startWorld(t, {
  settings: { DISPATCH_MAX_ATTEMPTS: '3', PROVIDER_TIMEOUT_SECONDS: '1.5', INDETERMINATE_TIMEOUT_SECONDS: '5' }
})
const { official } = world
const tenant = await world.tenant('acme')
const channel = await tenant.officialNumber(official)
const hooks = await tenant.receiver(t)
/** Written to before the restriction. */
const known = someone()
await tenant.reaches((await tenant.send(channel.id, { to: known })).messageId, 'read')

t.test('a refusal by the platform is failed with our code, and the event says so', async t => {
  for (const [code, ours] of [
    [131009, 'provider_rejected'],
    [131026, 'invalid_recipient'],
    [131047, 'outside_24h_window'],
    [131050, 'recipient_opted_out']
  ] as const) {
    await official.fault('refuse', { code, details: 'Something about +5511999999999' })
    const { messageId } = await tenant.send(channel.id)
    const failed = await tenant.reaches(messageId, 'failed')
    t.match(failed, { lastError: ours, attempts: 1 })
    t.notMatch(JSON.stringify(failed), /5511999999999/, 'the words of the platform stay inside')
    t.same(await hooks.told(messageId, 1), ['failed'])
    const { event } = await hooks.got('the failure', one => one.data.messageId === messageId)
    t.same(event.data, { messageId, status: 'failed', errorCode: ours })
    t.equal(await official.timesAccepted(messageId), 0)
  }
})

t.test('a failure that the platform reports later is failed as well, after sent', async t => {
  await official.fault('status_fail', { code: 131026 })
  const { messageId } = await tenant.send(channel.id)
  t.match(await tenant.reaches(messageId, 'failed'), { lastError: 'invalid_recipient', attempts: 1 })
  t.same(await hooks.told(messageId, 3), ['message.sent', 'sent', 'failed'])
})

t.test('a transient error is tried again and then goes out, once', async t => {
  await official.fault('refuse', { code: 131016, httpStatus: 500, times: 2 })
  const { messageId } = await tenant.send(channel.id)
  const read = await tenant.reaches(messageId, 'read')
  t.equal(read.attempts, 3)
  t.equal(read.events.filter(event => event.outcome === 'retry').length, 2)
  t.equal(await official.timesAccepted(messageId), 1)
  t.same(await hooks.told(messageId, 4), ['message.sent', 'sent', 'delivered', 'read'])
})

t.test('a transient error that stays is retries_exhausted, with the last code in the timeline', async t => {
  await official.fault('refuse', { code: 131016, httpStatus: 500, times: 3 })
  const { messageId } = await tenant.send(channel.id)
  const failed = await tenant.reaches(messageId, 'failed')
  t.match(failed, { lastError: 'retries_exhausted', attempts: 3 })
  t.ok(failed.events.some(event => event.detail.code === 'provider_unavailable'))
  t.same(await hooks.told(messageId, 1), ['failed'])
})

for (const [name, fault, more] of [
  ['a connection that breaks after the platform has accepted', 'reset', { accept: true }],
  ['a call that hangs after the platform has accepted', 'hang', { accept: true }],
  ['a server error without a word after the platform has accepted', 'server_error', { accept: true, withBody: false }],
  ['an answer that cannot be read', 'malformed_answer', {}]
] as const)
  t.test(`${name} is indeterminate; the report settles it and nothing is sent twice`, async t => {
    await official.fault(fault, more)
    await official.fault('no_status')
    const { messageId } = await tenant.send(channel.id)
    const unknown = await tenant.reaches(messageId, 'indeterminate')
    t.equal(unknown.attempts, 1)
    t.same(hooks.storyOf(messageId), [], 'nobody is told what nobody knows')
    t.equal((await official.status({ callbackData: messageId, status: 'delivered' })).status, 200)
    t.match(await tenant.reaches(messageId, 'delivered'), { lastError: null, attempts: 1 })
    t.same(await hooks.told(messageId, 3), ['message.sent', 'sent', 'delivered'], 'told as if nothing had been lost')
    t.equal(await official.timesAccepted(messageId), 1)
  })

t.test('a lost send that nobody reports is dispatch_indeterminate; proof that comes later still wins', async t => {
  await official.fault('reset', { accept: true })
  await official.fault('no_status')
  const { messageId } = await tenant.send(channel.id)
  t.match(await tenant.reaches(messageId, 'failed'), { lastError: 'dispatch_indeterminate', attempts: 1 })
  await official.status({ callbackData: messageId, status: 'read' })
  t.match(await tenant.reaches(messageId, 'read'), { lastError: null })
  t.same(await hooks.told(messageId, 4), ['failed', 'message.sent', 'sent', 'read'])
  t.equal(await official.timesAccepted(messageId), 1)
})

t.test('a message retried by the client under its key is the same message, whatever became of it', async t => {
  await official.fault('reset', { accept: true })
  const first = await tenant.send(channel.id, { key: 'retried-by-client' })
  const second = await tenant.send(channel.id, { key: 'retried-by-client' })
  t.match(second, { messageId: first.messageId, idempotent: true })
  await tenant.reaches(first.messageId, 'read')
  t.equal(await official.timesAccepted(first.messageId), 1)
})

t.test('credentials that expire burn no message: it waits, and the number says what is wrong', async t => {
  const { id } = await tenant.officialNumber(official)
  await official.fault('unauthorized')
  const { messageId } = await tenant.send(id)
  const waiting = await tenant.reaches(messageId, 'retrying')
  t.equal(waiting.attempts, 0, 'no attempt is counted')
  t.equal((await tenant.channel(id)).lastError, 'credentials_rejected')
  t.equal((await tenant.channel(id)).state, 'connected')
})

t.test('a platform that blocks writing to new people sets the flag; existing conversations continue', async t => {
  await official.fault('refuse', { code: 131048 })
  const { messageId } = await tenant.send(channel.id)
  t.match(await tenant.reaches(messageId, 'failed'), { lastError: 'channel_restricted' })
  t.same(await hooks.told(messageId, 1), ['failed'])
  const until = Math.floor(Date.now() / 1000) + 3600
  const news = { event: 'ACCOUNT_RESTRICTION', restriction_info: [{ restriction_type: BARS_NEW, expiration: until }] }
  const told = { object: 'whatsapp_business_account', entry: [{ id: WABA_ID, changes: [{ field, value: news }] }] }
  t.equal((await official.callback(told)).status, 200)
  const restricted = { active: true, until: new Date(until * 1000).toISOString() }
  t.match(await tenant.channel(channel.id), { state: 'connected', restricted })
  const refused = await tenant.trySend(channel.id)
  t.equal(refused.status, 409)
  t.equal(refused.body.error?.code, 'channel_restricted')
  t.equal((await tenant.trySend(channel.id, { to: known })).status, 202)
})

t.test('a platform that does not listen at all is tried again, then retries_exhausted', async t => {
  await official.close()
  const { messageId } = await tenant.send(channel.id, { to: known })
  t.match(await tenant.reaches(messageId, 'failed'), { lastError: 'retries_exhausted', attempts: 3 })
  t.same(await hooks.told(messageId, 1), ['failed'])
})

t.test('no event ever carried a secret or an id of the platform', async t => {
  t.ok(hooks.all().length > 20)
  for (const hook of hooks.all()) t.notMatch(hook.rawBody.toString(), /EAAB|wamid|app-secret|llk_|whsec_/)
})
