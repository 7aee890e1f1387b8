/** An unofficial number: paired by a QR, sending, receiving, dropping, and the attempts that come to nothing. */
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t)
const { unofficial } = world
const tenant = await world.tenant('acme')
const hooks = await tenant.receiver(t)

t.test('a scanned QR makes a channel that sends, is tracked to read and receives', async t => {
  const started = await tenant.startAttempt({ label: 'Front desk' })
  t.equal(started.status, 201)
  const { attemptId } = started.body
  t.same(started.body, { attemptId, state: 'connecting', qr: null })
  t.match(attemptId, /^cxn_/)
  const offered = await tenant.attemptReaches(attemptId, 'scan_qr')
  t.same(Object.keys(offered).sort(), ['attemptId', 'qr', 'state'])
  t.match(offered.qr, /^.{20,}$/)
  const listed = await tenant.ask<{ items: unknown[] }>('GET', '/v1/channels')
  t.same(listed.body.items, [], 'an attempt is no channel')
  await unofficial.scan(attemptId, '5511970000001')
  const connected = await tenant.attemptReaches(attemptId, 'connected')
  const channelId = connected.channelId ?? ''
  t.same(connected, { state: 'connected', channelId, number: '5511970000001' })
  t.match(await tenant.channel(channelId), {
    kind: 'unofficial',
    provider: 'unofficial_platform',
    state: 'connected',
    label: 'Front desk',
    number: '5511970000001',
    engine: 'noweb'
  })

  const to = someone()
  const { messageId } = await tenant.send(channelId, { to, text: 'From the front desk' })
  const read = await tenant.reaches(messageId, 'read')
  t.match(read, { attempts: 1, lastError: null })
  t.same(await hooks.told(messageId, 4), ['message.sent', 'sent', 'delivered', 'read'])
  t.equal(await unofficial.timesAccepted('From the front desk'), 1)
  const { event } = await hooks.got('message.sent', one => one.data.messageId === messageId)
  t.match(event, {
    channelKind: 'unofficial',
    channelNumber: '5511970000001',
    provider: 'unofficial_platform',
    engine: 'noweb',
    data: { to, content: { kind: 'text', text: 'From the front desk' } }
  })

  await unofficial.control('POST', `sessions/${attemptId}/inbound`, {
    from: to,
    pushName: 'Bia',
    message: { kind: 'text', text: 'Thank you' }
  })
  const received = await hooks.got('message.received', one => one.type === 'message.received')
  t.match(received.event, {
    channelId,
    data: { from: to, profileName: 'Bia', message: { kind: 'text', text: 'Thank you' } }
  })

  const late = await tenant.ask('DELETE', `/v1/channels/connect/${attemptId}`)
  t.equal(late.status, 409)
  t.equal(late.body.error?.code, 'attempt_not_cancellable')
})

t.test('a cancelled attempt is gone, and so is its session', async t => {
  const { attemptId } = (await tenant.startAttempt()).body
  await tenant.attemptReaches(attemptId, 'scan_qr')
  const cancelled = await tenant.ask('DELETE', `/v1/channels/connect/${attemptId}`)
  t.equal(cancelled.status, 200)
  t.same(cancelled.body, { cancelled: true })
  const gone = await tenant.ask('GET', `/v1/channels/connect/${attemptId}`)
  t.equal(gone.status, 404)
  t.equal(gone.body.error?.code, 'channel_not_found')
  await eventually('the end of the session', async () =>
    (await unofficial.sessions()).every(session => session.name !== attemptId)
  )
})

t.test('a second phone with a number that is live fails with number_in_use and harms nobody', async t => {
  const { id } = await tenant.unofficialNumber(unofficial, '5511970000003')
  const { attemptId } = (await tenant.startAttempt()).body
  await tenant.attemptReaches(attemptId, 'scan_qr')
  await unofficial.scan(attemptId, '5511970000003')
  t.same(await tenant.attemptReaches(attemptId, 'failed'), { state: 'failed', lastError: 'number_in_use' })
  const { messageId } = await tenant.send(id, { text: 'Still mine' })
  t.equal((await tenant.reaches(messageId, 'read')).channelId, id)
  await eventually('the end of the second session', async () =>
    (await unofficial.sessions()).every(session => session.name !== attemptId)
  )
})

t.test('an attempt without the risk acceptance is refused', async t => {
  const careless = await world.tenant('careless')
  const refused = await careless.ask('POST', '/v1/channels/connect', {})
  t.equal(refused.status, 422)
  t.equal(refused.body.error?.code, 'risk_acceptance_required')
})

t.test('a deleted number can be paired again, by anybody', async t => {
  const { id } = await tenant.unofficialNumber(unofficial, '5511970000004')
  t.equal((await tenant.ask('DELETE', `/v1/channels/${id}`)).status, 200)
  const other = await world.tenant('globex')
  const again = await other.unofficialNumber(unofficial, '5511970000004')
  t.not(again.id, id)
  t.equal((await other.channel(again.id)).number, '5511970000004')
})

t.test('an attempt that nobody scans expires; until then it holds its place in the pool', async t => {
  const small = await startWorld(t, { capacity: 1, settings: { CONNECTION_ATTEMPT_TTL_MINUTES: '0.03' } })
  const asker = await small.tenant('acme')
  const { attemptId } = (await asker.startAttempt()).body
  const refused = await asker.startAttempt()
  t.equal(refused.status, 503)
  t.equal(refused.body.error?.code, 'no_unofficial_instance_available')
  await asker.attemptReaches(attemptId, 'scan_qr')
  t.same(await asker.attemptReaches(attemptId, 'expired'), { state: 'expired' })
  await eventually('the end of the session', async () => (await small.unofficial.sessions()).length === 0)
  t.equal((await asker.startAttempt()).status, 201, 'its place is free')
})
