import t from 'tap'
import { signatureOf } from '../../src/connectors/sandbox/unofficial/webhooks.ts'
import { API_KEY, HMAC_KEY, startRig } from './unofficial-rig.ts'

t.test('a new session starts, shows a QR and works once the phone scanned it', async t => {
  const rig = await startRig({ timeScale: 0.05 })
  t.teardown(rig.close)
  const created = await rig.call('POST', '/api/sessions', {
    name: 's1',
    config: { webhooks: rig.webhooks(), metadata: { ref: 'cxn_1' } }
  })
  t.equal(created.status, 201)
  t.match(created.body, { name: 's1', status: 'STARTING', me: null, engine: { engine: 'NOWEB' } })

  const scanned = await rig.control('sessions/s1/scan', { number: '5511900000000' })
  t.match(scanned.body, { status: 'WORKING', me: { id: '5511900000000@c.us' } })
  await rig.control('drain')
  t.same(rig.statuses(), ['STARTING', 'SCAN_QR_CODE', 'WORKING'])
  for (const { headers, raw, body } of rig.callbacks) {
    t.equal(headers['x-webhook-hmac'], signatureOf(raw, HMAC_KEY))
    t.equal(headers['x-webhook-hmac-algorithm'], 'sha512')
    t.match(body, { id: /^evt_[0-9a-z]{26}$/, session: 's1', engine: 'NOWEB', metadata: { ref: 'cxn_1' } })
  }
  const seen = await rig.call('GET', '/api/sessions/s1')
  t.match(seen.body, { status: 'WORKING', me: { id: '5511900000000@c.us', lid: /@lid$/ } })
  t.match((await rig.call('GET', '/api/sessions/s1/me')).body, { id: '5511900000000@c.us' })
  t.equal((await rig.call('POST', '/api/sessions', { name: 's1' })).status, 422)
})

t.test('the QR clock shows six QRs, fails, and a restart shows fresh ones', async t => {
  const rig = await startRig({ timeScale: 0.002 })
  t.teardown(rig.close)
  await rig.call('POST', '/api/sessions', { name: 's1', config: { webhooks: rig.webhooks() } })
  await rig.until(() => rig.statuses().includes('SCAN_QR_CODE'))
  const first = await rig.call('GET', '/api/s1/auth/qr?format=raw')
  t.match(first.body.value, /^2@/)
  await rig.until(() => rig.statuses().includes('FAILED'))
  t.same(rig.statuses(), ['STARTING', ...Array(6).fill('SCAN_QR_CODE'), 'FAILED'])

  const refused = await rig.call('GET', '/api/s1/auth/qr?format=raw')
  t.equal(refused.status, 422)
  t.match(refused.body, { session: 's1', status: 'FAILED', expected: ['SCAN_QR_CODE'] })
  t.equal((await rig.call('POST', '/api/sessions/s1/start')).body.status, 'FAILED')

  rig.callbacks.length = 0
  t.equal((await rig.call('POST', '/api/sessions/s1/restart')).body.status, 'STARTING')
  await rig.until(() => rig.statuses().includes('SCAN_QR_CODE'))
  const second = await rig.call('GET', '/api/s1/auth/qr?format=raw')
  t.not(second.body.value, first.body.value)
})

t.test('QR as picture, pairing code and the made-up phone', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  await rig.call('POST', '/api/sessions', { name: 's1', config: { webhooks: rig.webhooks() } })
  await rig.until(() => rig.statuses().includes('SCAN_QR_CODE'))
  const picture = await rig.call('GET', '/api/s1/auth/qr', undefined, { accept: 'image/png' })
  t.equal(picture.type, 'image/png')
  const wrapped = await rig.call('GET', '/api/s1/auth/qr', undefined, { accept: 'application/json' })
  t.same(wrapped.body, { mimetype: 'image/png', data: picture.raw.toString('base64') })
  const code = await rig.call('POST', '/api/s1/auth/request-code', { phoneNumber: '5511900000005' })
  t.match(code.body.code, /^[A-Z]{4}-[A-Z]{4}$/)
  await rig.control('settings', { autoScan: { afterMs: 1, number: '5511900000009' } })
  await rig.until(() => rig.statuses().includes('WORKING'))
  t.equal((await rig.call('GET', '/api/sessions/s1/me')).body.id, '5511900000009@c.us')
})

t.test('what may befall a session', async t => {
  const rig = await startRig({ engine: 'GOWS' })
  t.teardown(rig.close)
  await rig.pair()
  t.equal((await rig.control('sessions/s1/drop')).body.status, 'STARTING')
  t.equal((await rig.control('sessions/s1/recover')).body.status, 'WORKING')
  t.match((await rig.control('sessions/s1/restrict', { until: '2099-02-01T00:00:00.000Z' })).body, {
    me: { reachoutTimelock: { isActive: true, timeEnforcementEnds: 4073587200 } }
  })
  await rig.control('sessions/s1/silence', { on: true })
  t.equal((await rig.control('sessions/s1/inbound', { message: { kind: 'text', text: 'Oi' } })).body.status, null)
  await rig.control('sessions/s1/silence', { on: false })
  t.match((await rig.call('POST', '/api/sessions/s1/stop')).body, { status: 'STOPPED', me: null })
  t.same((await rig.call('GET', '/api/sessions')).body, [])
  t.equal((await rig.call('GET', '/api/sessions?all=true')).body.length, 1)
  await rig.call('POST', '/api/sessions/s1/start')
  await rig.until(() => rig.statuses().at(-1) === 'WORKING' && rig.statuses().includes('STOPPED'))
  t.match((await rig.control('sessions/s1/ban')).body, { status: 'FAILED', me: null })
  await rig.call('POST', '/api/sessions/s1/restart')
  t.equal((await rig.control('sessions/s1/scan')).body.status, 'FAILED')
  await rig.control('sessions/s1/lose')
  t.equal((await rig.call('GET', '/api/sessions/s1')).status, 404)
})

t.test('logout shows a new QR, delete forgets and may be repeated', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  await rig.pair()
  await rig.call('POST', '/api/sessions/s1/logout')
  await rig.until(() => rig.statuses().includes('SCAN_QR_CODE'))
  t.equal((await rig.call('GET', '/api/sessions/s1/me')).body, null)
  t.equal((await rig.call('DELETE', '/api/sessions/s1')).status, 200)
  t.equal((await rig.call('DELETE', '/api/sessions/s1')).status, 200)
  t.same((await rig.call('GET', '/api/sessions/s1')).body, {
    message: 'Session not found',
    error: 'Not Found',
    statusCode: 404
  })
})

t.test('keys: missing, in the query, and limited to a session or to files', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  await rig.pair()
  t.same((await rig.call('GET', '/ping', undefined, { 'x-api-key': '' })).body, { message: 'pong' })
  const refused = await rig.call('GET', '/api/server/version', undefined, { 'x-api-key': 'wrong' })
  t.same([refused.status, refused.body], [401, { message: 'Unauthorized', statusCode: 401 }])
  t.equal((await rig.call('GET', `/health?x-api-key=${API_KEY}`, undefined, { 'x-api-key': '' })).status, 200)
  const version = await rig.call('GET', '/api/server/version')
  t.match(version.body, { version: '2026.7.1', engine: 'NOWEB', tier: 'CORE', browser: null, platform: 'linux/x64' })

  const { key } = (await rig.call('POST', '/api/keys', { session: 's1', actions: ['read'] })).body
  const text = { session: 's1', chatId: '5511900000001@c.us', text: 'Oi' }
  t.equal((await rig.call('GET', '/api/sessions/s1', undefined, { 'x-api-key': key })).status, 200)
  t.equal((await rig.call('GET', '/api/sessions/s2', undefined, { 'x-api-key': key })).status, 403)
  t.equal((await rig.call('POST', '/api/sendText', text, { 'x-api-key': key })).status, 403)
  const media = (await rig.call('POST', '/api/keys/media', { session: 's1' })).body
  t.same((await rig.call('POST', '/api/keys/media', { session: 's1' })).body, media)
  t.equal((await rig.call('GET', '/api/files/s1/x.jpg', undefined, { 'x-api-key': media.key })).status, 404)
  t.equal((await rig.call('POST', '/api/keys/media', { session: 'none' })).status, 422)
})
