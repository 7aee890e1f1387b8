import t from 'tap'
import { eventually, PNID, startWorld, text } from './official-world.ts'

type World = Awaited<ReturnType<typeof startWorld>>
const fault = (world: World, kind: string, script: object = {}) =>
  world.control('POST', 'faults', { fault: kind, ...script })
const accepted = async (world: World) => (await world.control('GET', 'sends')).body.accepted

t.test('refusals and throttles answer the scripted code and accept nothing', async t => {
  const world = await startWorld(t)
  await fault(world, 'refuse', { code: 131045, details: 'register it', match: { callbackData: 'msg_2' } })
  await fault(world, 'throttle', { code: 4, match: { to: '5511900000003' } })
  await fault(world, 'unauthorized', { match: { callbackData: 'msg_4' } })
  t.equal((await world.send(text('msg_1'))).status, 200, 'what does not match is not touched')
  const refused = await world.send(text('msg_2'))
  t.match(refused, { status: 500, body: { error: { code: 131045, error_data: { details: 'register it' } } } })
  const throttled = await world.send({ to: '+5511900000003', ...text('msg_3') })
  t.match(throttled, { status: 400, body: { error: { code: 4, error_subcode: 2446079, is_transient: true } } })
  t.match(await world.send(text('msg_4')), { status: 401, body: { error: { code: 190 } } })
  t.equal((await world.send(text('msg_2'))).status, 200, 'a fault is used once')
  t.match((await world.control('GET', 'sends')).body, { total: 5, accepted: 2, byCallbackData: { msg_1: 1, msg_2: 1 } })
})

t.test('times and clearing', async t => {
  const world = await startWorld(t)
  const { id } = (await fault(world, 'refuse', { code: 131000, httpStatus: 503, times: 0 })).body
  for (let n = 0; n < 3; n++) t.equal((await world.send(text('m'))).status, 503)
  t.match((await world.control('GET', 'faults')).body.faults, [{ id, fault: 'refuse', left: null, hits: 3 }])
  t.match((await world.control('DELETE', 'faults')).body, { cleared: 1 })
  t.equal((await world.send(text('m'))).status, 200)
  t.equal((await fault(world, 'explode')).status, 400)
  t.equal((await fault(world, 'reset', { before: 'body', match: { to: '1' } })).status, 400)
})

t.test('server errors, broken answers and lost answers, accepted or not', async t => {
  const world = await startWorld(t)
  await fault(world, 'server_error', { withBody: true, accept: false })
  t.match(await world.send(text('a')), { status: 500, body: { error: { code: 131000 } } })
  t.equal(await accepted(world), 0)
  await fault(world, 'server_error', { withBody: false, accept: true })
  t.match(await world.send(text('b')), { status: 502, body: /html/ })
  t.equal(await accepted(world), 1)
  await fault(world, 'malformed_answer')
  t.type((await world.send(text('c'))).body, 'string')
  t.equal(await accepted(world), 2)
  await fault(world, 'reset', { accept: true, before: 'answer' })
  await t.rejects(world.send(text('d')))
  t.equal(await accepted(world), 3)
  await fault(world, 'reset', { before: 'body', match: { phoneNumberId: PNID } })
  await t.rejects(world.send(text('e')))
  t.match((await world.control('GET', 'sends')).body, {
    accepted: 3,
    byCallbackData: { b: 1, c: 1, d: 1, e: undefined }
  })
})

t.test('a hanging send is never answered but may have been accepted', async t => {
  const world = await startWorld(t)
  await fault(world, 'timeout_after_accept')
  let answered = false
  const hanging = world.send(text('h')).then(
    () => {
      answered = true
    },
    () => 'cut'
  )
  await eventually(() => world.statuses('h').length === 3)
  t.equal(answered, false)
  await fault(world, 'hang', { accept: false })
  const lost = world.send(text('i')).catch(() => 'cut')
  await eventually(async () => (await world.control('GET', 'faults')).body.faults.length === 0)
  t.equal(await accepted(world), 1)
  await world.simulator.close()
  t.equal(await hanging, 'cut', 'closing cuts what hangs')
  t.equal(await lost, 'cut')
})

t.test('a slow answer, another wa_id, and a status that overtakes the answer', async t => {
  const world = await startWorld(t)
  await fault(world, 'slow', { ms: 80 })
  const started = performance.now()
  t.equal((await world.send(text('s'))).status, 200)
  t.ok(performance.now() - started >= 75)
  await fault(world, 'wrong_wa_id', { waId: '551100000001' })
  t.equal((await world.send(text('w'))).body.contacts[0].wa_id, '551100000001')
  await fault(world, 'status_before_answer', { statuses: ['sent', 'delivered'] })
  const early = await world.send(text('early'))
  t.same(
    world.statuses('early').map(status => status.status),
    ['sent', 'delivered']
  )
  t.equal(world.statuses('early')[0].id, early.body.messages[0].id)
  await world.drained()
  t.equal(world.statuses('w')[0].recipient_id, '551100000001')
  t.same(
    world.statuses('early').map(status => status.status),
    ['sent', 'delivered', 'read']
  )
})

t.test('scripted statuses', async t => {
  const world = await startWorld(t)
  const kinds = [
    'status_fail',
    'no_status',
    'duplicate_status',
    'reorder_statuses',
    'skip_delivered',
    'unknown_fields',
    'batch_statuses'
  ]
  for (const kind of kinds)
    await fault(world, kind, { code: 131049, title: 'Not today', match: { callbackData: kind } })
  for (const kind of kinds) t.equal((await world.send(text(kind))).status, 200)
  await world.drained()
  const seen = (kind: string) => world.statuses(kind).map(status => status.status)
  t.match(world.statuses('status_fail'), [{ status: 'failed', errors: [{ code: 131049, title: 'Not today' }] }])
  t.same(seen('no_status'), [])
  t.same(seen('duplicate_status'), ['sent', 'sent', 'delivered', 'delivered', 'read', 'read'])
  t.same(seen('reorder_statuses'), ['read', 'delivered', 'sent'])
  t.same(seen('skip_delivered'), ['sent', 'read'])
  t.same(seen('unknown_fields'), ['warning', 'sent', 'played', 'delivered', 'played', 'read'])
  t.same(world.statuses('unknown_fields')[0].delivery_hint, { tier: 7, tags: ['new'] })
  t.same(seen('batch_statuses'), ['sent', 'delivered', 'read'])
  const together = world.values().filter(value => value.statuses?.[0].biz_opaque_callback_data === 'batch_statuses')
  t.equal(together.length, 1, 'all three in one webhook')
})

t.test('an unreachable platform destroys every Graph connection', async t => {
  const world = await startWorld(t)
  await world.control('POST', 'online', { online: false })
  await t.rejects(world.send(text('off')))
  await t.rejects(world.graph('GET', PNID))
  await world.control('POST', 'online', { online: true })
  t.equal((await world.send(text('on'))).status, 200)
})
