/** The list, its metrics, renotify; templates and compliance: what their queries and bodies take and answer. */
import t from 'tap'
import { assertRefusal, listen } from './listening.ts'
import { id } from './stub-doors.ts'

t.test('filters of the list', async t => {
  const { stub, ask } = await listen(t)
  const asked = async (query: string): Promise<readonly unknown[]> => {
    const { status, text } = await ask({ path: `/v1/messages?${query}` })
    t.equal(status, 200, text)
    return stub.calls.at(-1)?.args.slice(1) ?? []
  }
  t.strictSame(await asked(''), [{}, { limit: 50, cursor: null }])
  const all = `from=2025-03-01T00:00:00Z&to=2025-03-01T02:00:00.5%2B01:00&state=failed&recipient=5511987654321&channelId=${id('ch')}`
  t.strictSame(await asked(`${all}&limit=7&cursor=abc&unknown=1`), [
    {
      from: '2025-03-01T00:00:00.000Z',
      to: '2025-03-01T01:00:00.500Z',
      state: 'failed',
      recipient: '5511987654321',
      channelId: id('ch')
    },
    { limit: 7, cursor: 'abc' }
  ])
  for (const state of ['queued', 'dispatching', 'retrying', 'indeterminate', 'sent', 'delivered', 'read', 'failed'])
    t.strictSame((await asked(`state=${state}`))[0], { state })
  t.strictSame((await asked('recipient=BR.Ab12'))[0], { recipient: 'BR.Ab12' })
  t.strictSame((await asked('channelId=nonsense'))[0], { channelId: 'nonsense' }, 'it matches nothing')
  t.strictSame((await asked('from=2025-03-01T00:00:00Z&to=2025-03-01T00:00:00Z'))[0], {
    from: '2025-03-01T00:00:00.000Z',
    to: '2025-03-01T00:00:00.000Z'
  })
})

t.test('filters that are not valid', async t => {
  const { stub, ask } = await listen(t)
  for (const [query, ...paths] of [
    ['from=2025-03-02T00:00:00Z&to=2025-03-01T00:00:00Z', 'from'],
    ['from=2025-03-01', 'from'],
    ['from=2025-03-01T00:00:00', 'from'],
    ['from=2025-02-30T00:00:00Z', 'from'],
    ['from=', 'from'],
    ['to=1740787200', 'to'],
    ['to=9999-12-31T23:59:59-01:00', 'to'],
    ['to=2025-03-01T00:00:00Z&to=2025-03-02T00:00:00Z', 'to'],
    ['state=gone', 'state'],
    ['state=', 'state'],
    ['state=sent&state=read', 'state'],
    ['recipient=%2B5511987654321', 'recipient'],
    ['recipient=0511987654321', 'recipient'],
    ['recipient=', 'recipient'],
    ['recipient=ana', 'recipient'],
    ['channelId=a&channelId=b', 'channelId'],
    ['from=x&to=y&state=z', 'from', 'to', 'state']
  ] as const) {
    const answer = await ask({ path: `/v1/messages?${query}` })
    t.test(query, async t => assertRefusal(t, answer, 422, 'validation_failed', paths))
  }
  t.strictSame(stub.calls, [])
})

t.test('an item of the list is tracking without events', async t => {
  const { ask } = await listen(t)
  const { events, ...tracked } = (await ask({ path: `/v1/messages/${id('msg')}` })).json
  t.strictSame(events, [])
  t.strictSame((await ask({ path: '/v1/messages' })).json, { items: [tracked], nextCursor: null })
})

t.test('metrics', async t => {
  const { stub, ask } = await listen(t)
  const answer = await ask({ path: '/v1/messages/metrics' })
  t.strictSame(stub.calls[0]?.args[1], '30d', 'the default')
  t.strictSame(answer.json, {
    granularity: 'day',
    series: [{ day: '2025-03-01', t: '2025-03-01T00:00:00.000Z', enqueued: 3, dispatched: 2, delivered: 1 }],
    totals: { enqueued: 3, dispatched: 2, delivered: 1, failed: 1 },
    window: '30d'
  })
  for (const window of ['24h', '1d', '9d', '10d', '89d', '90d']) {
    t.equal((await ask({ path: `/v1/messages/metrics?window=${window}` })).status, 200, window)
    t.equal(stub.calls.at(-1)?.args[1], window)
  }
  stub.calls.length = 0
  for (const window of ['0d', '91d', '100d', '01d', '1h', '25h', '1D', '', ' 1d', '1d%0A', '30', '1d&window=2d']) {
    const wrong = await ask({ path: `/v1/messages/metrics?window=${window}` })
    t.test(window, async t => assertRefusal(t, wrong, 422, 'validation_failed', ['window']))
  }
  t.strictSame(stub.calls, [])
})

t.test('renotify of one message', async t => {
  const { stub, ask } = await listen(t)
  const post = { method: 'POST', path: `/v1/messages/${id('msg')}/renotify` }
  t.strictSame((await ask(post)).json, { enqueued: true, status: 'read' })
  stub.once('messages.renotify', () => ({ ok: false, code: 'validation_failed' }))
  assertRefusal(t, await ask(post), 422, 'validation_failed', ['id'])
  stub.once('messages.renotify', () => ({ ok: false, code: 'overloaded' }))
  assertRefusal(t, await ask(post), 503, 'overloaded')
})

t.test('renotify by filter', async t => {
  const { stub, ask } = await listen(t)
  const post = (query: string) => ask({ method: 'POST', path: `/v1/messages/renotify?${query}` })
  const week = 'from=2025-02-01T00:00:00Z&to=2025-02-08T00:00:00Z'
  const answer = await post(`${week}&state=sent&recipient=5511987654321&channelId=${id('ch')}`)
  t.strictSame([answer.status, answer.json], [200, { enqueued: 2, skipped: 1 }])
  t.strictSame(stub.calls[0]?.args[1], {
    from: '2025-02-01T00:00:00.000Z',
    to: '2025-02-08T00:00:00.000Z',
    state: 'sent',
    recipient: '5511987654321',
    channelId: id('ch')
  })
  stub.calls.length = 0
  for (const [query, ...paths] of [
    ['', 'from', 'to'],
    ['from=2025-02-01T00:00:00Z&to=2025-02-08T00:00:00.001Z', 'to'],
    ['from=2025-02-08T00:00:00Z&to=2025-02-01T00:00:00Z', 'from'],
    [`${week}&state=gone`, 'state'],
    [`${week}&recipient=ana`, 'recipient']
  ] as const) {
    const wrong = await post(query)
    t.test(query, async t => assertRefusal(t, wrong, 422, 'validation_failed', paths))
  }
  t.strictSame(stub.calls, [])
  const details = [{ path: 'from', message: 'matches more than 5000 messages' }]
  stub.once('messages.renotifyMany', () => ({ ok: false, code: 'validation_failed', details }))
  assertRefusal(t, await post(week), 422, 'validation_failed', ['from'])
})

t.test('names of routes are no ids', async t => {
  const { stub, ask } = await listen(t)
  for (const path of ['/v1/messages/renotify', '/v1/messages/metric'])
    assertRefusal(t, await ask({ path }), 404, 'resource_not_found')
  const post = await ask({ method: 'POST', path: '/v1/messages/metrics/renotify' })
  assertRefusal(t, post, 404, 'resource_not_found')
  assertRefusal(t, await ask({ method: 'POST', path: '/v1/messages/metrics' }), 404, 'route_not_found')
  t.strictSame(stub.calls, [])
})

t.test('templates', async t => {
  const { stub, ask } = await listen(t)
  const save = (more: object) =>
    ask({ method: 'PUT', path: '/v1/templates', body: { name: 'a', language: 'pt_BR', body: 'x', ...more } })
  t.strictSame((await save({})).json, {
    name: 'order_shipped',
    language: 'en',
    status: 'approved',
    category: null,
    source: 'workspace',
    wabaId: null,
    body: 'Order {{1}}',
    header: null,
    footer: 'The shop',
    updatedAt: '2025-03-01T12:00:00.000Z'
  })
  const longest = { name: 'n'.repeat(512), body: 'b'.repeat(1024), header: 'h'.repeat(60), footer: 'f'.repeat(60) }
  t.equal((await save(longest)).status, 200)
  t.strictSame(stub.calls.at(-1)?.args[1], { language: 'pt_BR', ...longest })
  stub.calls.length = 0
  for (const [more, path] of [
    [{ name: '' }, 'name'],
    [{ name: 'n'.repeat(513) }, 'name'],
    [{ name: 'Order' }, 'name'],
    [{ name: 'order-1' }, 'name'],
    [{ name: 'órder' }, 'name'],
    [{ language: 'portuguese' }, 'language'],
    [{ body: '' }, 'body'],
    [{ body: 'b'.repeat(1025) }, 'body'],
    [{ header: '' }, 'header'],
    [{ header: 'h'.repeat(61) }, 'header'],
    [{ footer: 'f'.repeat(61) }, 'footer'],
    [{ footer: null }, 'footer']
  ] as const) {
    const wrong = await save(more)
    t.test(JSON.stringify(more).slice(0, 40), async t => assertRefusal(t, wrong, 422, 'validation_failed', [path]))
  }
  for (const name of ['Order', 'order-1', '%C3%B3rder', 'a%00', 'n'.repeat(513)]) {
    const gone = await ask({ method: 'DELETE', path: `/v1/templates/${name}` })
    t.test(name.slice(0, 20), async t => assertRefusal(t, gone, 404, 'resource_not_found'))
  }
  t.strictSame(stub.calls, [])
  t.equal((await ask({ method: 'DELETE', path: `/v1/templates/${'n'.repeat(512)}` })).status, 204)
})

t.test('erasure and accepted risks', async t => {
  const { stub, ask } = await listen(t)
  const erased = await ask({ method: 'POST', path: '/v1/erasure', body: { contact: 'BR.Ab12' } })
  t.strictSame(stub.calls[0]?.args[1], { contact: 'BR.Ab12' })
  const erasedAt = '2025-03-01T12:00:00.000Z'
  t.strictSame(erased.json, { contact: '5511*****4321', messages: 2, deliveriesCancelled: 1, erasedAt })
  for (const contact of ['+5511987654321', 'ana', '']) {
    const wrong = await ask({ method: 'POST', path: '/v1/erasure', body: { contact } })
    assertRefusal(t, wrong, 422, 'validation_failed', ['contact'])
  }
  const risk = { track: 'unofficial', termsVersion: 'unofficial-v1', acceptedAt: erasedAt }
  const path = '/v1/compliance/risk-acceptances'
  const { track, termsVersion } = risk
  t.strictSame((await ask({ method: 'POST', path, body: { track, termsVersion } })).json, risk)
  t.strictSame((await ask({ path })).json, { items: [risk], nextCursor: null })
  const other = await ask({ method: 'POST', path, body: { track: 'official', termsVersion } })
  assertRefusal(t, other, 422, 'validation_failed', ['track'])
  stub.once('risks.accept', () => ({
    ok: false,
    code: 'validation_failed',
    details: [{ path: 'termsVersion', message: 'x' }]
  }))
  const old = await ask({ method: 'POST', path, body: { track, termsVersion: 'unofficial-v0' } })
  assertRefusal(t, old, 422, 'validation_failed', ['termsVersion'])
})
