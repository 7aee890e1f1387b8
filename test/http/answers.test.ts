/** What clients get when all is well, and how the service's own refusals come out. */
import t from 'tap'
import { assertRefusal, listen } from './listening.ts'
import { addressOf, nameOf, ROUTES, SEND_BODY } from './routes-table.ts'
import { channelView, id, KEYS } from './stub-doors.ts'

t.test('every route reaches its door with the caller', async t => {
  const { stub, ask } = await listen(t)
  for (const route of ROUTES) {
    stub.calls.length = 0
    stub.allow([route.permission])
    const key = route.door === 'keys.create' ? KEYS.full : KEYS.limited
    const answer = await ask({ method: route.method, path: addressOf(route), key, body: route.body })
    t.equal(answer.status, route.success, `${nameOf(route)}: ${answer.text}`)
    t.strictSame(
      stub.calls.map(call => call.door),
      [route.door]
    )
    t.match(stub.calls[0]?.args[0], { tenantId: id('tn'), trace: answer.headers['x-trace-id'] })
    t.equal(answer.headers['cache-control'], 'no-store')
    t.notMatch(answer.text, /tenantId|contactId|streamNo|position|revoked/, 'nothing of the inside shows')
    if (route.success === 204) t.equal(answer.text, '')
  }
})

t.test('exact shapes', async t => {
  const { ask } = await listen(t)
  const sent = await ask({ method: 'POST', path: `/v1/channels/${id('ch')}/messages`, body: SEND_BODY })
  const traceId = sent.headers['x-trace-id']
  const expected = { idempotencyKey: 'order-1', idempotent: false, messageId: id('msg'), state: 'queued', traceId }
  t.strictSame(sent.json, expected)
  t.strictSame((await ask({ path: `/v1/channels/${id('ch')}` })).json, { ...channelView, tags: [] })
  const keys = ['createdAt', 'expiresAt', 'id', 'lastFour', 'name', 'permissions']
  const created = await ask({ method: 'POST', path: '/v1/keys', body: { name: 'x' } })
  t.strictSame(Object.keys(created.json).sort(), ['apiKey', ...keys])
  const listed = (await ask({ path: '/v1/keys' })).json as { items: object[]; nextCursor: null }
  t.strictSame(
    listed.items.map(item => Object.keys(item).sort()),
    [keys],
    'revoked keys are gone'
  )
  t.equal(listed.nextCursor, null)
})

t.test('queries', async t => {
  const { stub, ask } = await listen(t)
  await ask({ path: '/v1/channels?tenantId=tn_x&unknown=1' })
  t.strictSame(stub.calls.at(-1)?.args[1], { limit: 50, cursor: null, tag: null })
  await ask({ path: `/v1/channels?limit=100&cursor=abc&tag=${id('tag')}` })
  t.strictSame(stub.calls.at(-1)?.args[1], { limit: 100, cursor: 'abc', tag: id('tag') })
  await ask({ path: '/v1/webhooks/deliveries?state=dead&eventType=message.sent&limit=1' })
  const [, filter, page] = stub.calls.at(-1)?.args ?? []
  t.strictSame(
    [filter, page],
    [
      { state: 'dead', eventType: 'message.sent' },
      { limit: 1, cursor: null }
    ]
  )
  const wrong = await ask({ path: '/v1/webhooks/deliveries?state=gone' })
  assertRefusal(t, wrong, 422, 'validation_failed', ['state'])
  await ask({ path: `/v1/channels/${id('ch')}/events?before=xyz` })
  t.strictSame(stub.calls.at(-1)?.args[2], { limit: 50, before: 'xyz' })
})

t.test('keys', async t => {
  const { stub, ask } = await listen(t)
  const create = (body: object, key = KEYS.full) => ask({ method: 'POST', path: '/v1/keys', body, key })
  stub.allow(['keys:write', 'messages:read'])
  assertRefusal(t, await create({ name: 'x', permissions: ['messages:send'] }, KEYS.limited), 403, 'forbidden')
  assertRefusal(t, await create({ name: 'x' }, KEYS.limited), 403, 'forbidden')
  const past = await create({ name: 'x', expiresAt: '2025-03-01T12:00:00Z' })
  assertRefusal(t, past, 422, 'validation_failed', ['expiresAt'])
  for (const expiresAt of ['2030-01-01', 'soon', '2030-02-30T00:00:00Z', '2030-01-01T00:00:00']) {
    assertRefusal(t, await create({ name: 'x', expiresAt }), 422, 'validation_failed', ['expiresAt'])
  }
  const twice = await create({ name: 'x', permissions: ['keys:write', 'keys:write'] })
  assertRefusal(t, twice, 422, 'validation_failed', ['permissions'])
  t.strictSame(stub.calls, [])
  t.equal((await create({ name: 'x', expiresAt: '2030-01-01T02:00:00+02:00' })).status, 201)
  t.match(stub.calls[0]?.args[1], { name: 'x', expiresAt: '2030-01-01T00:00:00.000Z' })
})

t.test('refusals of the service', async t => {
  const { stub, ask } = await listen(t)
  const post = { method: 'POST', path: `/v1/channels/${id('ch')}/messages`, body: SEND_BODY }
  for (const [code, status] of [
    ['channel_limited', 409],
    ['channel_quarantined', 409],
    ['channel_restricted', 409],
    ['conflict', 409],
    ['unsupported_capability', 422],
    ['outbound_address_blocked', 422],
    ['channel_disconnected', 503]
  ] as const) {
    stub.once('messages.send', () => ({ ok: false, code }))
    assertRefusal(t, await ask(post), status, code)
  }
  stub.once('messages.send', () => ({ ok: false, code: 'overloaded' }))
  const overloaded = await ask(post)
  assertRefusal(t, overloaded, 503, 'overloaded')
  t.equal(overloaded.headers['retry-after'], '1')
  stub.once('messages.send', () => {
    throw Object.assign(new Error('disk full'), { name: 'LogUnavailable' })
  })
  assertRefusal(t, await ask(post), 503, 'overloaded')
  stub.once('messages.send', () => ({ ok: false, code: 'made_up' }))
  assertRefusal(t, await ask(post), 500, 'internal_error')
})

t.test('routes without a body do not mind one, or its absence', async t => {
  const { ask } = await listen(t)
  const post = { method: 'POST', path: `/v1/channels/${id('ch')}/disconnect` }
  t.equal((await ask(post)).status, 200)
  t.equal((await ask({ ...post, body: '' })).status, 200, 'JSON announced, nothing sent')
  t.equal((await ask({ ...post, body: {} })).status, 200)
  t.equal((await ask({ method: 'DELETE', path: `/v1/keys/${id('key')}`, body: '' })).status, 204)
})
