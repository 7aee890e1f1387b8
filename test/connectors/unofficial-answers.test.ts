import t from 'tap'
import type { UnofficialLine } from '../../src/connectors/port.ts'
import { createUnofficialConnector } from '../../src/connectors/unofficial/connector.ts'
import { closedAddress, type Reaction } from './recording-server.ts'
import { CHAT, connect, FOUND, isCheck, patience, SENT, TEXT } from './unofficial-fixtures.ts'

const WRONG_STATUS = {
  error: 'Session status is not as expected. Try again later or restart the session',
  session: 's1',
  status: 'SCAN_QR_CODE',
  expected: ['WORKING']
}
const exception = (text: string) => ({
  statusCode: 500,
  exception: { name: 'Error', message: text, stack: 'at x:463:1' }
})

const ANSWERS: readonly (readonly [name: string, reaction: Reaction, answer: object])[] = [
  ['GOWS', SENT, { kind: 'sent', providerId: '3EB0A1', address: '5511900000001' }],
  [
    'NOWEB',
    {
      status: 201,
      body: { key: { remoteJid: '5511900000001@s.whatsapp.net', fromMe: true, id: '3EB0B2' }, status: 'PENDING' }
    },
    { kind: 'sent', providerId: '3EB0B2', address: '5511900000001' }
  ],
  [
    'WEBJS',
    {
      status: 201,
      body: { id: { fromMe: true, remote: CHAT, id: '3EB0C3', _serialized: `true_${CHAT}_3EB0C3` }, ack: 0 }
    },
    { kind: 'sent', providerId: '3EB0C3' }
  ],
  [
    'id in parts',
    { status: 201, body: { id: { fromMe: true, remote: CHAT, id: '3EB0C3' } } },
    { kind: 'sent', providerId: '3EB0C3' }
  ],
  ['hidden id learnt', { status: 201, body: { id: 'true_77@lid_3EB0' } }, { kind: 'sent', address: '77@lid' }],
  ['201 empty', { status: 201, body: '' }, { kind: 'unknown', code: 'no_message_id' }],
  ['201 without id', { status: 201, body: {} }, { kind: 'unknown', code: 'no_message_id' }],
  ['201 cut short', 'cut within answer', { kind: 'unknown', code: 'connection_lost' }],
  [
    '400 validation',
    { status: 400, body: { message: ['text must be a string'] } },
    { kind: 'refused', code: 'provider_rejected' }
  ],
  [
    '401 key',
    { status: 401, body: { message: 'Unauthorized' } },
    { kind: 'channel_trouble', code: 'instance_rejected' }
  ],
  ['403 rights', { status: 403, body: {} }, { kind: 'channel_trouble', code: 'instance_rejected' }],
  [
    '404 session',
    { status: 404, body: { message: 'Session not found' } },
    { kind: 'channel_trouble', code: 'session_not_working' }
  ],
  ['422 status', { status: 422, body: WRONG_STATUS }, { kind: 'channel_trouble', code: 'session_not_working' }],
  [
    '422 engine',
    { status: 422, body: { message: 'The method is not implemented by the engine. x' } },
    { kind: 'refused', code: 'unsupported_capability' }
  ],
  ['422 other', { status: 422, body: { message: 'Plus only' } }, { kind: 'refused', code: 'provider_rejected' }],
  [
    '429',
    { status: 429, body: '', headers: { 'retry-after': '3' } },
    { kind: 'retry', code: 'provider_throttled', afterMs: 3000 }
  ],
  ['500', { status: 500, body: exception('Evaluation failed') }, { kind: 'unknown', code: 'server_error' }],
  [
    '500 restricted',
    { status: 500, body: exception('server returned error 463') },
    { kind: 'refused', code: 'channel_restricted' }
  ],
  ['502 of a proxy', { status: 502, body: '<html>' }, { kind: 'unknown', code: 'server_error' }],
  ['redirect', { status: 302, body: '' }, { kind: 'unknown', code: 'server_error' }],
  ['reset before the body', 'cut before body', { kind: 'unknown', code: 'connection_lost' }],
  ['reset after the body', 'cut after body', { kind: 'unknown', code: 'connection_lost' }],
  ['timeout', 'hang', { kind: 'unknown', code: 'timeout' }]
]

t.test('4.3 Send answers, 4.4 Ambiguity, 1 Errors', async t => {
  let reaction: Reaction = SENT
  const { connector, line } = await connect(t, request => (isCheck(request) ? FOUND : reaction), { timeoutMs: 300 })
  for (const [name, next, answer] of ANSWERS) {
    reaction = next
    t.match(await connector.send(line, TEXT, patience()), answer, name)
  }
})

t.test('1 Errors: nothing left the machine', async t => {
  const connector = createUnofficialConnector({ timeoutMs: 5_000 })
  t.teardown(() => connector.close())
  const line: UnofficialLine = {
    kind: 'unofficial',
    baseUrl: await closedAddress(),
    apiKey: null,
    session: 's1',
    engine: 'gows'
  }
  const to = '77@lid'
  t.match(await connector.send(line, { ...TEXT, to }, patience()), {
    kind: 'retry',
    code: 'provider_unavailable',
    detail: 'ECONNREFUSED'
  })
  t.match(await connector.send(line, TEXT, patience()), { kind: 'retry', code: 'provider_unavailable' }, 'at the check')
  for (const baseUrl of ['not a url', 'ftp://x.example.com']) {
    t.match(await connector.send({ ...line, baseUrl }, TEXT, patience()), {
      kind: 'channel_trouble',
      code: 'instance_rejected'
    })
  }
  const odd = await connector.send({ ...line, apiKey: 'a\nb' }, TEXT, patience())
  t.match(odd, { kind: 'channel_trouble', code: 'instance_rejected' })
})
