import t, { type Test } from 'tap'
import { request } from 'undici'
import { API_KEY, PEER, startRig } from './unofficial-rig.ts'

type Rig = Awaited<ReturnType<typeof startRig>>
const send = (rig: Rig, text: string) => rig.call('POST', '/api/sendText', { session: 's1', chatId: PEER, text })
const sends = async (rig: Rig) => (await rig.call('GET', '/_control/sends')).body
const acks = (rig: Rig) => rig.of('message.ack').map(({ payload }) => payload)

async function faultyRig(t: Test, fault: object, options = {}) {
  const rig = await startRig(options)
  t.teardown(rig.close)
  await rig.pair()
  t.equal((await rig.control('faults', fault)).status, 200)
  return rig
}

t.test('an unknown fault is refused', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  t.equal((await rig.control('faults', { fault: 'nonsense' })).status, 400)
  t.equal((await rig.control('session-faults', { on: 'create', fault: 'slow' })).status, 400)
})

t.test('faults strike matching sends only, as often as ordered', async t => {
  const rig = await faultyRig(t, { fault: 'refuse', match: { text: 'b' }, times: 2, status: 422, message: 'No' })
  t.equal((await send(rig, 'a')).status, 201)
  t.match((await send(rig, 'b')).body, { message: 'No', statusCode: 422 })
  t.match((await rig.call('GET', '/_control/faults')).body.faults, [{ fault: 'refuse', times: 1 }])
  t.equal((await send(rig, 'b')).status, 422)
  t.equal((await send(rig, 'b')).status, 201)
  t.match(await sends(rig), { total: 4, accepted: 2, byText: { a: 1, b: 1 } })
  await rig.control('faults', { fault: 'refuse', times: 0 })
  t.equal((await send(rig, 'c')).status, 400)
  t.equal((await send(rig, 'c')).status, 400)
  await rig.call('DELETE', '/_control/faults')
  t.equal((await send(rig, 'c')).status, 201)
})

t.test('500 with and without the message having gone out', async t => {
  const rig = await faultyRig(t, { fault: 'error_500', accept: true })
  const crashed = await send(rig, 'gone out')
  t.match([crashed.status, crashed.body.exception.name], [500, 'Error'])
  t.equal(crashed.body.request.body.text, 'gone out')
  await rig.until(() => rig.of('message.any').length === 1)
  await rig.control('faults', { fault: 'error_500', accept: false })
  t.equal((await send(rig, 'lost')).status, 500)
  t.match(await sends(rig), { total: 2, accepted: 1 })
})

t.test('an empty 201 although the message goes out', async t => {
  const rig = await faultyRig(t, { fault: 'empty_201' })
  const answer = await send(rig, 'x')
  t.same([answer.status, answer.raw.length], [201, 0])
  await rig.until(() => rig.of('message.any').length === 1)
})

t.test('hanging, resetting and slow answers', async t => {
  const rig = await faultyRig(t, { fault: 'hang', accept: true })
  const sending = request(`${rig.simulator.url}/api/sendText`, {
    method: 'POST',
    headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ session: 's1', chatId: PEER, text: 'hung' }),
    headersTimeout: 0,
    signal: AbortSignal.timeout(300)
  })
  await t.rejects(sending, { name: 'TimeoutError' })
  t.match(await sends(rig), { accepted: 1 })
  await rig.control('faults', { fault: 'reset', accept: false })
  await t.rejects(send(rig, 'reset'))
  await rig.control('faults', { fault: 'reset', accept: true })
  await t.rejects(send(rig, 'reset'))
  t.match(await sends(rig), { accepted: 2, byText: { hung: 1, reset: 1 } })
  await rig.control('faults', { fault: 'slow', ms: 60 })
  const before = process.hrtime.bigint()
  t.equal((await send(rig, 'slow')).status, 201)
  t.ok(process.hrtime.bigint() - before > 50_000_000n)
})

t.test('faulty acknowledgements', async t => {
  const rig = await faultyRig(t, { fault: 'ack_error', match: { text: 'error' }, error: { code: '463' } })
  const order = ['no_ack', 'duplicate_ack', 'ack_lid']
  for (const fault of order) await rig.control('faults', { fault, match: { text: fault } })
  const idOf = async (text: string) => (await send(rig, text)).body.key.id
  const ids = { error: await idOf('error'), none: await idOf('no_ack'), twice: await idOf('duplicate_ack') }
  const hidden = await idOf('ack_lid')
  t.ok((await rig.control('drain')).body.drained)
  const of = (bare: string) => acks(rig).filter(({ id }) => id.endsWith(bare))
  t.match(of(ids.error), [{ ack: -1, ackName: 'ERROR', error: { code: '463' } }])
  t.equal(of(ids.error).length, 1)
  t.equal(of(ids.none).length, 0)
  t.same(
    of(ids.twice)
      .map(({ ack }) => ack)
      .sort(),
    [1, 1, 2, 2, 3, 3]
  )
  t.equal(of(hidden).length, 3)
  t.ok(of(hidden).every(({ id, from }) => /^true_\d+@lid_/.test(id) && from.endsWith('@lid')))
})

t.test('acknowledgements out of order, and before the answer', async t => {
  const rig = await faultyRig(t, { fault: 'reorder_acks' }, { delaysMs: { server: 1, device: 80, read: 160 } })
  await send(rig, 'reordered')
  await rig.control('drain')
  t.same(
    acks(rig).map(({ ack }) => ack),
    [3, 2, 1]
  )
  rig.callbacks.length = 0
  await rig.control('faults', { fault: 'ack_before_answer' })
  await send(rig, 'early')
  t.same(
    rig.callbacks.map(({ body }) => body.payload.ackName),
    ['PENDING', 'SERVER', 'DEVICE', 'READ'],
    'all were delivered when the answer came'
  )
})

t.test('no echo, and fields nobody knows', async t => {
  const rig = await faultyRig(t, { fault: 'no_echo' })
  await send(rig, 'quiet')
  await rig.control('drain')
  t.same([rig.of('message.any').length, acks(rig).length], [0, 3])
  await rig.control('faults', { fault: 'unknown_fields' })
  t.ok((await send(rig, 'odd')).body.futureField)
  await rig.control('drain')
  t.ok(rig.of('message.any')[0]?.payload.futureField)
})

t.test('session operations fail as ordered', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  const create = () => rig.call('POST', '/api/sessions', { name: 's1' })
  await rig.control('session-faults', { on: 'create', fault: 'refuse', status: 500, message: 'Full' })
  t.equal((await create()).status, 500)
  await rig.control('session-faults', { on: 'create', fault: 'reset', accept: true })
  await t.rejects(create())
  t.equal((await create()).status, 422, 'the session of the lost answer exists')
  await rig.control('session-faults', { on: 'look', fault: 'unauthorized' })
  t.equal((await rig.call('GET', '/api/sessions/s1')).status, 401)
  t.equal((await rig.call('GET', '/api/sessions/s1')).status, 200)
  await rig.control('session-faults', { on: 'qr', fault: 'refuse', status: 404, message: 'Gone' })
  t.equal((await rig.call('GET', '/api/s1/auth/qr?format=raw')).status, 404)
})

t.test('offline, no API call gets through; the control stays', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  await rig.pair()
  t.same((await rig.control('online', { online: false })).body, { online: false })
  await t.rejects(rig.call('GET', '/ping'))
  t.match((await rig.call('GET', '/_control/state')).body, {
    online: false,
    sessions: [{ name: 's1', status: 'WORKING' }]
  })
  await rig.control('online', { online: true })
  t.equal((await rig.call('GET', '/ping')).status, 200)
  await rig.control('reset')
  t.match((await rig.call('GET', '/_control/state')).body, { sessions: [], sends: { total: 0, accepted: 0 } })
})
