import t from 'tap'
import { createOfficialConnector } from '../../src/connectors/official/connector.ts'
import { ACCEPTED, connect, LINE, patience, TEXT } from './official-fixtures.ts'
import { closedAddress, type Reaction } from './recording-server.ts'

const graphError = (status: number, code: number, extra: object = {}): Reaction => ({
  status,
  body: { error: { message: `(#${code}) text`, type: 'OAuthException', code, ...extra } }
})

const ANSWERS: readonly (readonly [name: string, reaction: Reaction, answer: object])[] = [
  [
    '200 for a user id',
    { status: 200, body: { contacts: [{ user_id: 'BR.1' }], messages: [{ id: 'w' }] } },
    { kind: 'sent', address: 'BR.1' }
  ],
  [
    '200 without contacts',
    { status: 200, body: { messages: [{ id: 'w' }] } },
    { kind: 'sent', providerId: 'w', address: null }
  ],
  ['200 without id', { status: 200, body: { messages: [] } }, { kind: 'unknown', code: 'no_message_id' }],
  ['200 unparsable', { status: 200, body: '<html>' }, { kind: 'unknown', code: 'no_message_id' }],
  ['200 cut short', 'cut within answer', { kind: 'unknown', code: 'connection_lost' }],
  ['400 by code', graphError(400, 131026), { kind: 'refused', code: 'invalid_recipient', providerCode: '131026' }],
  ['404 by code', graphError(404, 132001), { kind: 'refused', code: 'template_call_invalid' }],
  [
    '400 throttle',
    graphError(400, 130429),
    { kind: 'retry', code: 'provider_throttled', scope: 'channel', afterMs: null }
  ],
  [
    'a throttle that names its wait',
    { status: 400, body: { error: { code: 80007 } }, headers: { 'retry-after': '9' } },
    { kind: 'retry', code: 'provider_throttled', afterMs: 9000 }
  ],
  [
    '500 with an error body',
    graphError(500, 131000),
    { kind: 'retry', code: 'provider_unavailable', scope: 'message' }
  ],
  ['503 with an error body', graphError(503, 2), { kind: 'retry', code: 'provider_unavailable' }],
  ['401 token', graphError(401, 190), { kind: 'channel_trouble', code: 'credentials_rejected' }],
  ['unregistered', graphError(400, 133010), { kind: 'channel_trouble', code: 'number_not_registered' }],
  ['unlisted code', graphError(400, 424242), { kind: 'refused', code: 'provider_rejected' }],
  [
    'details before message',
    graphError(400, 131009, { error_data: { details: 'Please check' } }),
    { kind: 'refused', code: 'provider_rejected', detail: 'Please check' }
  ],
  [
    'a quoted token is masked',
    { status: 401, body: { error: { code: 190, message: 'Malformed access token EAAB-token' } } },
    { kind: 'channel_trouble', detail: 'Malformed access token ***' }
  ],
  ['500 without an error body', { status: 500, body: 'oops' }, { kind: 'unknown', code: 'server_error' }],
  ['502 with other JSON', { status: 502, body: { error: 'bad gateway' } }, { kind: 'unknown', code: 'server_error' }],
  ['redirect', { status: 302, body: '' }, { kind: 'unknown', code: 'server_error' }],
  ['403 without an error body', { status: 403, body: '<html>' }, { kind: 'retry', code: 'provider_unavailable' }],
  [
    '429 without an error body',
    { status: 429, body: '', headers: { 'retry-after': '7' } },
    { kind: 'retry', code: 'provider_throttled', scope: 'channel', afterMs: 7000 }
  ],
  ['reset before the body', 'cut before body', { kind: 'unknown', code: 'connection_lost' }],
  ['reset after the body', 'cut after body', { kind: 'unknown', code: 'connection_lost' }]
]

t.test('1.1 Ambiguity rule: what an answer proves', async t => {
  let reaction: Reaction = ACCEPTED
  const { connector } = await connect(t, () => reaction)
  for (const [name, next, answer] of ANSWERS) {
    reaction = next
    t.match(await connector.send(LINE, TEXT, patience()), answer, name)
  }
  reaction = ACCEPTED
  t.match(await connector.send(LINE, TEXT, patience()), { kind: 'sent' }, 'and it works again')
})

t.test('1.1 Error codes: pair rate waits 4^n seconds, until a message passes', async t => {
  let reaction = graphError(400, 131056)
  const { connector } = await connect(t, () => reaction)
  const wait = async (to: string) => {
    const answer = await connector.send(LINE, { ...TEXT, to }, patience())
    return answer.kind === 'retry' ? `${answer.scope} ${answer.afterMs}` : answer.kind
  }
  t.same(
    [await wait('551'), await wait('551'), await wait('552')],
    ['recipient 1000', 'recipient 4000', 'recipient 1000']
  )
  reaction = ACCEPTED
  t.equal(await wait('551'), 'sent')
  reaction = graphError(400, 131056)
  t.same([await wait('551'), await wait('552')], ['recipient 1000', 'recipient 4000'])
})

t.test('1.1 Ambiguity rule: nothing left the machine', async t => {
  const connector = createOfficialConnector({ baseUrl: await closedAddress(), timeoutMs: 5_000, connections: 4 })
  t.teardown(() => connector.close())
  const answers = await Promise.all(Array.from({ length: 50 }, () => connector.send(LINE, TEXT, patience())))
  for (const answer of answers) {
    t.match(answer, { kind: 'retry', code: 'provider_unavailable', scope: 'message', detail: 'ECONNREFUSED' })
  }
  const unresolved = createOfficialConnector({ baseUrl: 'http://no-such-host.invalid', timeoutMs: 5_000 })
  t.teardown(() => unresolved.close())
  t.match(await unresolved.send(LINE, TEXT, patience()), { kind: 'retry', code: 'provider_unavailable' })
  t.match(await connector.send(LINE, TEXT, AbortSignal.abort()), { kind: 'retry', detail: 'aborted' })
})

t.test('1.1 Ambiguity rule: timeouts after the request was written', async t => {
  const { server, connector } = await connect(t, () => 'hang', { timeoutMs: 300 })
  t.match(
    await connector.send(LINE, TEXT, AbortSignal.timeout(100)),
    { kind: 'unknown', code: 'timeout' },
    'the signal'
  )
  t.match(await connector.send(LINE, TEXT, patience()), { kind: 'unknown', code: 'timeout' }, 'the own timeout')
  t.equal(server.requests.length, 2)
})

t.test('a send given up while it waits for a connection never leaves', async t => {
  let reaction: Reaction = 'hang'
  const { server, connector } = await connect(t, () => reaction, { connections: 1 })
  const hanging = new AbortController()
  const waiting = new AbortController()
  const first = connector.send(LINE, TEXT, hanging.signal)
  const second = connector.send(LINE, { ...TEXT, messageId: 'msg_2' }, waiting.signal)
  waiting.abort()
  t.match(await second, { kind: 'retry', detail: 'aborted' })
  hanging.abort()
  t.match(await first, { code: /timeout|provider_unavailable/ })
  reaction = ACCEPTED
  t.match(await connector.send(LINE, { ...TEXT, messageId: 'msg_3' }, patience()), { kind: 'sent' })
  t.notOk(server.requests.some(request => request.body.includes('msg_2')))
})

t.test('a token that HTTP cannot carry is a credentials problem, and harms no connection', async t => {
  const { connector } = await connect(t, () => ACCEPTED, { connections: 1 })
  for (let n = 0; n < 3; n += 1) {
    const answer = await connector.send({ ...LINE, accessToken: 'a\r\nb' }, TEXT, patience())
    t.match(answer, { kind: 'channel_trouble', code: 'credentials_rejected' })
  }
  t.match(await connector.send(LINE, TEXT, patience()), { kind: 'sent' })
})
