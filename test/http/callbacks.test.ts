/** Provider callbacks: bytes go through untouched, the doors decide. */
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { assertRefusal, listen } from './listening.ts'
import { id, UNKNOWN } from './stub-doors.ts'

const OFFICIAL = '/webhooks/official'
const unofficial = (reference: string) => `/webhooks/unofficial/${reference}`
const handshake = (query: string) => ({ path: `${OFFICIAL}?${query}`, key: null })

t.test('handshake', async t => {
  const { ask } = await listen(t)
  const challenge = '1158201444<b>'
  const query = `hub.mode=subscribe&hub.challenge=${encodeURIComponent(challenge)}&hub.verify_token=verify-me`
  const answer = await ask(handshake(query))
  t.equal(answer.status, 200)
  t.equal(answer.text, challenge)
  t.match(answer.headers['content-type'], /^text\/plain/)
  for (const wrong of [
    '',
    'hub.mode=subscribe&hub.challenge=1',
    'hub.mode=subscribe&hub.verify_token=verify-me',
    'hub.mode=unsubscribe&hub.challenge=1&hub.verify_token=verify-me',
    'hub.mode=subscribe&hub.challenge=1&hub.verify_token=other',
    'hub.mode=subscribe&hub.challenge=1&hub.verify_token=verify-me&hub.verify_token=verify-me'
  ]) {
    assertRefusal(t, await ask(handshake(wrong)), 403, 'forbidden')
  }
})

t.test('bytes and headers are handed on as they are', async t => {
  const { stub, ask } = await listen(t)
  const body = Buffer.from([0x7b, 0xff, 0x00, 0x20, 0x7d])
  const signed = { 'x-hub-signature-256': 'sha256=ab', 'content-type': 'text/x-anything; charset=latin1' }
  const official = await ask({ method: 'POST', path: OFFICIAL, key: null, body, headers: signed })
  t.equal(official.status, 200)
  t.strictSame(stub.calls.pop()?.args, [body, 'sha256=ab', official.headers['x-trace-id']])
  const headers = { 'x-webhook-hmac': 'cd', 'x-webhook-hmac-algorithm': 'sha512' }
  for (const prefix of ['ch', 'cxn']) {
    const answer = await ask({ method: 'POST', path: unofficial(id(prefix)), key: null, body, headers })
    t.equal(answer.status, 200)
    const expected = [id(prefix), body, { hmac: 'cd', algorithm: 'sha512' }, answer.headers['x-trace-id']]
    t.strictSame(stub.calls.pop()?.args, expected)
  }
})

t.test('an empty body is a body of no bytes', async t => {
  const { stub, ask } = await listen(t)
  for (const path of [OFFICIAL, unofficial(id('ch'))]) {
    assertRefusal(t, await ask({ method: 'POST', path, key: null }), 400, 'malformed_json')
    assertRefusal(t, await ask({ method: 'POST', path, key: null, body: '' }), 400, 'malformed_json')
  }
  t.equal(stub.calls.length, 4)
})

t.test('what the doors refuse has the error body', async t => {
  const { stub, ask } = await listen(t)
  const post = { method: 'POST', path: OFFICIAL, key: null, body: '{}' }
  const codes = [
    [400, 'malformed_json'],
    [403, 'invalid_signature'],
    [503, 'overloaded']
  ] as const
  for (const [status, code] of codes) {
    stub.once('callbacks.official', () => ({ status }))
    assertRefusal(t, await ask(post), status, code)
  }
  const gone = { ...post, path: unofficial(id('cxn', UNKNOWN)) }
  assertRefusal(t, await ask(gone), 404, 'channel_not_found')
})

t.test('what never reaches a door', async t => {
  const { stub, ask } = await listen(t)
  const bad: readonly (readonly [object, number, string])[] = [
    [{ path: OFFICIAL, body: 'x'.repeat(4 * 1024 * 1024 + 1) }, 413, 'payload_too_large'],
    [{ path: OFFICIAL, body: gzipSync('{}'), headers: { 'content-encoding': 'gzip' } }, 415, 'unsupported_media_type'],
    [{ path: unofficial('xyz'), body: '{}' }, 404, 'channel_not_found'],
    [{ path: unofficial(id('msg')), body: '{}' }, 404, 'channel_not_found'],
    [{ path: '/webhooks/other', body: '{}' }, 404, 'route_not_found']
  ]
  for (const [asking, status, code] of bad) {
    const answer = await ask({ method: 'POST', key: null, path: '', ...asking })
    assertRefusal(t, answer, status, code)
  }
  t.strictSame(stub.calls, [])
  const large = 'x'.repeat(4 * 1024 * 1024)
  t.equal((await ask({ method: 'POST', key: null, path: OFFICIAL, body: large })).status, 200, '4 MB are taken')
})
