import t from 'tap'
import { retryDelayMs, signatureOf } from '../../src/connectors/sandbox/unofficial/webhooks.ts'
import { HMAC_KEY, startRig } from './unofficial-rig.ts'

const text = { kind: 'text', text: 'Oi' }

t.test('the signature is the one of the published test vector', async t => {
  const body = '{"event":"message","session":"default","engine":"WEBJS"}'
  t.equal(
    signatureOf(body, 'my-secret-key'),
    '208f8a55dde9e05519e898b10b89bf0d0b3b0fdf11fdbf09b6b90476301b98d8' +
      '097c462b2b17a6ce93b6b47a136cf2e78a33a63f6752c2c1631777076153fa89'
  )
  const rig = await startRig()
  t.teardown(rig.close)
  const posted = await rig.control('webhook', {
    url: rig.receiverUrl,
    body,
    hmacKey: 'my-secret-key',
    headers: { 'x-a': 1 }
  })
  t.same(posted.body, { status: 200 })
  t.equal(rig.callbacks[0]?.raw, body)
  t.match(rig.callbacks[0]?.headers, { 'x-webhook-hmac': /^208f8a55/, 'x-a': '1' })
})

t.test('a refused delivery is repeated with the same id until it is taken', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  const retries = { policy: 'linear', delaySeconds: 1, attempts: 3 }
  const [hook] = rig.webhooks(['message'], retries)
  await rig.pair('s1', { webhooks: [{ ...hook, customHeaders: [{ name: 'X-Ref', value: 'cxn_1' }] }] })
  rig.plan.push({ status: 500 }, { status: 503, headers: { 'retry-after': '1' } })
  t.equal((await rig.control('sessions/s1/inbound', { message: text })).body.status, 500)
  t.ok((await rig.control('drain')).body.drained)
  t.equal(rig.callbacks.length, 3)
  t.equal(new Set(rig.callbacks.map(({ headers }) => headers['x-webhook-request-id'])).size, 1)
  t.equal(new Set(rig.callbacks.map(({ raw }) => raw)).size, 1)
  t.match(rig.callbacks[0]?.headers, {
    'x-ref': 'cxn_1',
    'x-webhook-timestamp': /^\d{13}$/,
    'user-agent': 'WAHA/2026.7.1',
    'content-type': 'application/json'
  })
  t.equal(rig.callbacks[2]?.headers['x-webhook-hmac'], signatureOf(rig.callbacks[2]?.raw ?? '', HMAC_KEY))

  rig.plan.push(...Array(4).fill({ status: 500 }))
  await rig.control('sessions/s1/inbound', { message: text })
  await rig.control('drain')
  t.match((await rig.call('GET', '/_control/webhooks')).body, { pending: 0, delivered: 1, retried: 5, givenUp: 1 })
})

t.test('only events asked for are sent', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  await rig.pair('s1', { webhooks: rig.webhooks(['message.any']) })
  await rig.control('sessions/s1/inbound', { message: text })
  await rig.control('sessions/s1/unlink')
  await rig.control('drain')
  t.same(
    rig.callbacks.map(({ body }) => body.event),
    ['message.any']
  )
})

t.test('an unreachable receiver is answered with status 0, and a reset forgets its retries', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  const webhooks = [{ url: 'http://127.0.0.1:9/none', events: ['message'], retries: { delaySeconds: 3600 } }]
  await rig.pair('s1', { webhooks })
  t.equal((await rig.control('sessions/s1/inbound', { message: text })).body.status, 0)
  t.same((await rig.control('drain', { timeoutMs: 20 })).body, { drained: false, pending: 1 })
  await rig.control('reset')
  t.same((await rig.control('drain')).body, { drained: true, pending: 0 })
})

t.test('with jitter, events overtake each other', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  await rig.pair('s1', { webhooks: rig.webhooks(['message']) })
  await rig.control('settings', { webhookJitterMs: 100 })
  await rig.control('sessions/s1/inbound', { message: { kind: 'text', text: '{n}' }, count: 30 })
  const order = rig.of('message').map(({ payload }) => Number(payload.body))
  const sorted = [...order].sort((left, right) => left - right)
  t.equal(order.length, 30)
  t.notSame(order, sorted)
})

t.test('retry policies', async t => {
  const delays = (policy: string) => [1, 2, 3].map(n => retryDelayMs({ policy, delaySeconds: 2, attempts: 15 }, n, 0.5))
  t.same(delays('constant'), [2000, 2000, 2000])
  t.same(delays('linear'), [2000, 4000, 6000])
  t.same(delays('exponential'), [2000, 4000, 8000])
  t.equal(retryDelayMs({ policy: 'exponential', delaySeconds: 2, attempts: 15 }, 1, 0), 1600)
})
