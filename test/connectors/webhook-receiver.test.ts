import t, { type Test } from 'tap'
import { createGuard } from '../../src/connectors/webhook/guard.ts'
import { createWebhookPoster, type PostAnswer } from '../../src/connectors/webhook/post.ts'
import { type ReceivedEvent, type ReceiverOptions, startReceiver } from '../../src/connectors/webhook/receiver.ts'
import { signatureHeader } from '../../src/connectors/webhook/signature.ts'

const now = 1_800_000_000_000
const body = Buffer.from('{ "id": "evt_1" }')

type Setup = {
  seen: ReceivedEvent[]
  url: string
  post: (body: Buffer, headers: Record<string, string>) => Promise<PostAnswer>
}

const setup = async (test: Test, options: Partial<ReceiverOptions> = {}): Promise<Setup> => {
  const seen: ReceivedEvent[] = []
  const receiver = await startReceiver({
    host: '127.0.0.1',
    port: 0,
    onEvent: event => seen.push(event),
    now: () => now,
    ...options
  })
  const guard = createGuard({ allowedCidrs: ['127.0.0.0/8'] })
  const poster = createWebhookPoster({ guard, timeoutMs: 150, userAgent: 'test', maxConnectionsPerOrigin: 2 })
  test.teardown(async () => {
    await poster.close()
    await receiver.close()
  })
  const url = `${receiver.url}/hook`
  return { seen, url, post: (body, headers) => poster.post({ url, body, headers }) }
}

const signed = (secret: string, text: Buffer) => ({
  'X-Service-Signature': signatureHeader(text, [secret], now / 1000)
})

t.test('a signed event is verified over its raw bytes and answered 204', async t => {
  const { seen, post } = await setup(t, { secret: 'whsec' })
  t.match(await post(body, signed('whsec', body)), { kind: 'answered', status: 204 })
  t.match(seen, [{ verified: true, problem: null, answer: 204, path: '/hook', method: 'POST', event: { id: 'evt_1' } }])
  t.same(seen[0]?.rawBody, body)
})

t.test('what does not verify is answered 401 and still shown, with its problem', async t => {
  const { seen, post } = await setup(t, { secret: 'whsec' })
  for (const headers of [{}, signed('other', body)]) {
    t.match(await post(body, headers), { kind: 'answered', status: 401 })
  }
  t.match(seen, [
    { verified: false, problem: 'missing_signature' },
    { verified: false, problem: 'invalid_signature' }
  ])
})

t.test('without a secret nothing is verified', async t => {
  const { seen, post } = await setup(t)
  t.match(await post(body, {}), { status: 204 })
  t.match(seen, [{ verified: null, problem: null }])
})

t.test('a body that is no event is answered 400, one that is too large 413', async t => {
  const { seen, post } = await setup(t)
  for (const text of ['{', '[]', 'null', '"x"']) t.match(await post(Buffer.from(text), {}), { status: 400 }, text)
  t.same(
    seen.map(one => [one.event, one.problem]),
    Array.from({ length: 4 }, () => [null, 'malformed_event'])
  )
  const large = await post(Buffer.alloc(1024 * 1024 + 1, 0x20), {})
  t.ok(large.kind === 'failed' || large.status === 413, 'the answer may be lost with the connection')
  t.equal(seen.length, 4)
})

t.test('answers can be scripted, failures too', async t => {
  const script = [500, { status: 503, headers: { 'retry-after': '7' }, body: 'busy' }, 'reset', 'hang', 204] as const
  const { seen, post } = await setup(t, { respond: n => script[n - 1] ?? 204 })
  t.match(await post(body, {}), { status: 500 })
  t.match(await post(body, {}), { status: 503, retryAfterMs: 7000, snippet: 'busy' })
  t.match(await post(body, {}), { kind: 'failed', error: 'reset' })
  t.match(await post(body, {}), { kind: 'failed', error: 'timeout' })
  t.match(await post(body, {}), { status: 204 })
  t.same(
    seen.map(one => one.answer),
    script
  )
})

t.test('a port that is taken is an error', async t => {
  const { url } = await setup(t)
  const port = Number(new URL(url).port)
  await t.rejects(startReceiver({ host: '127.0.0.1', port, onEvent: () => {} }), { code: 'EADDRINUSE' })
})
