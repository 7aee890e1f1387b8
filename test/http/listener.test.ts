/** What holds for the listener itself, whatever the route. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import { type Logger, pino } from 'pino'
import t from 'tap'
import { createRequestWindows } from '../../src/coordination/request-windows.ts'
import { monotonicTime } from '../../src/coordination/time.ts'
import { createApp } from '../../src/http/app.ts'
import { readTraceparent } from '../../src/http/trace.ts'
import { assertRefusal, listen } from './listening.ts'
import { SEND_BODY } from './routes-table.ts'
import { id, KEYS, stubDoors } from './stub-doors.ts'

const SEND = { method: 'POST', path: `/v1/channels/${id('ch')}/messages`, body: SEND_BODY }

/** Sends bytes on a bare socket and reads to its end. */
async function speak(base: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  let heard = ''
  socket.setEncoding('utf8').on('data', text => {
    heard += text
  })
  socket.write(bytes)
  await once(socket, 'close')
  return heard
}

function collect(): { readonly lines: Record<string, unknown>[]; readonly logger: Logger } {
  const lines: Record<string, unknown>[] = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    }
  })
  return { lines, logger: pino({ level: 'debug' }, sink) }
}

t.test('what names no route', async t => {
  const { ask } = await listen(t)
  for (const asking of [
    { path: '/' },
    { path: '/v1' },
    { path: '/v1/nope', key: null },
    { method: 'PUT', path: `/v1/channels/${id('ch')}`, body: {} },
    { method: 'PUT', path: '/v1/nope', body: '{', headers: { 'content-type': 'text/csv' } },
    { method: 'DELETE', path: '/v1/channels' },
    { path: '/v1/messages/%ZZ' },
    { path: '/v1/messages/%E0%A4' },
    { path: `/v1/messages/${'x'.repeat(3000)}` },
    { path: '/..%2f..%2fetc/passwd' },
    { path: '/docs/static/..%2f..%2fpackage.json' }
  ]) {
    t.test(`${asking.method ?? 'GET'} ${asking.path.slice(0, 40)}`, async t =>
      assertRefusal(t, await ask(asking), 404, 'route_not_found')
    )
  }
})

t.test('what is no HTTP', async t => {
  const { base } = await listen(t)
  const wrong: readonly (readonly [string, number, string])[] = [
    ['GARBAGE\r\n\r\n', 400, 'bad_request'],
    ['GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n', 400, 'bad_request'],
    ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400, 'bad_request'],
    [`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large']
  ]
  for (const [bytes, status, code] of wrong) {
    const heard = await speak(base, bytes)
    const [head = '', body = ''] = heard.split('\r\n\r\n')
    t.match(head, new RegExp(`^HTTP/1.1 ${status} `))
    const { error } = JSON.parse(body) as { error: { code: string; traceId: string } }
    t.equal(error.code, code)
    t.match(head, `x-trace-id: ${error.traceId}`)
  }
})

t.test('a refused body does not cost the connection, unless it is huge', async t => {
  const { ask, base } = await listen(t)
  const malformed = await ask({ ...SEND, body: '{' })
  t.equal(malformed.headers.connection, 'keep-alive')
  const oversized = await ask({ ...SEND, body: 'x'.repeat(5_000_000) })
  assertRefusal(t, oversized, 413, 'payload_too_large')
  t.equal(oversized.headers.connection, 'keep-alive')
  const head = `POST ${SEND.path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEYS.full}\r\nContent-Type: application/json\r\n`
  const huge = await speak(base, `${head}Content-Length: 90000000000\r\n\r\n`)
  t.match(huge, /^HTTP\/1.1 413 [\s\S]*connection: close/i)
  const chunk = `${(70_000).toString(16)}\r\n${'x'.repeat(70_000)}\r\n`
  const chunked = await speak(base, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`)
  t.match(chunked, /^HTTP\/1.1 413 [\s\S]*connection: close/i)
})

t.test('something breaks', async t => {
  const { lines, logger } = collect()
  const { stub, ask } = await listen(t, { logger })
  stub.once('messages.send', () => {
    throw new Error('SQLITE_CORRUPT: row of 5511987654321')
  })
  const answer = await ask(SEND)
  assertRefusal(t, answer, 500, 'internal_error')
  t.notMatch(answer.text, /SQLITE|5511/)
  const errors = lines.filter(line => line.msg === 'request failed')
  t.equal(errors.length, 1, 'logged once')
  t.match(errors[0], { traceId: answer.headers['x-trace-id'], message: 'SQLITE_CORRUPT: row of *' })
  t.notMatch(JSON.stringify(lines), /5511987654321/)
})

t.test('one line per request, without anything personal', async t => {
  const { lines, logger } = collect()
  const { ask } = await listen(t, { logger })
  const w3c = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const path = '/v1/channels/5511987654321/messages'
  const sent = await ask({ ...SEND, path, headers: { traceparent: w3c } })
  await ask({ path: '/v1/messages/5511987654321?x=5511987654321', key: null })
  await ask({ path: '/nope/5511987654321' })
  t.equal(lines.length, 3)
  t.match(lines[0], {
    msg: 'request',
    method: 'POST',
    route: '/v1/channels/:ref/messages',
    status: 202,
    traceId: sent.headers['x-trace-id'],
    tenantId: id('tn'),
    keyId: id('key'),
    w3cTraceId: '0af7651916cd43dd8448eb211c80319c',
    w3cParentId: 'b7ad6b7169203331'
  })
  t.type(lines[0]?.ms, 'number')
  t.match(lines[1], { route: '/v1/messages/:id', status: 401, code: 'unauthorized' })
  t.match(lines[2], { route: null, status: 404, code: 'route_not_found' })
  t.notMatch(JSON.stringify(lines), /5511987654321|llk_|hello/)
})

t.test('traceparent', async t => {
  const [trace, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  t.strictSame(readTraceparent(`00-${trace}-${parent}-01`), { traceId: trace, parentId: parent })
  t.strictSame(readTraceparent(`01-${trace}-${parent}-01-more`), { traceId: trace, parentId: parent })
  for (const wrong of [
    undefined,
    '',
    `00-${trace}-${parent}`,
    `00-${trace}-${parent}-01-more`,
    `ff-${trace}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `01-${trace}-${parent}-01${'x'.repeat(900)}`
  ]) {
    t.equal(readTraceparent(wrong), null, String(wrong))
  }
})

t.test('requests per key and minute', async t => {
  let now = 1_000
  const countRequest = createRequestWindows({ ...monotonicTime, now: () => now })
  const { stub, ask } = await listen(t, { requestLimitPerMinute: 3, countRequest })
  const asking = { path: `/v1/messages/${id('msg')}`, key: KEYS.throttled }
  for (const remaining of ['2', '1', '0']) {
    const { status, headers } = await ask(asking)
    t.equal(status, 200)
    t.match(headers, { 'ratelimit-limit': '3', 'ratelimit-remaining': remaining, 'ratelimit-reset': '60' })
  }
  now += 20_500
  const knocks = stub.calls.length
  const refused = await ask(asking)
  assertRefusal(t, refused, 429, 'rate_limited')
  t.match(refused.headers, { 'retry-after': '40', 'ratelimit-remaining': '0', 'ratelimit-reset': '40' })
  t.equal(stub.calls.length, knocks)
  t.equal((await ask({ ...asking, key: KEYS.full })).status, 200, 'another key is not touched')
  t.equal((await ask({ path: '/healthz', key: null })).headers['ratelimit-limit'], undefined)
  now += 39_500
  t.equal((await ask(asking)).status, 200, 'a minute later')
})

t.test('health', async t => {
  const { stub, ask } = await listen(t, { version: '1.2.3' })
  t.strictSame((await ask({ path: '/healthz', key: null })).json, { status: 'ok', version: '1.2.3' })
  const ready = await ask({ path: '/readyz', key: null })
  t.strictSame([ready.status, ready.json], [200, { sandbox: true, log: 'sqlite', status: 'ready' }])
  stub.once('health', () => undefined)
  const waiting = await ask({ path: '/readyz', key: null })
  t.equal(waiting.status, 503)
  const error = { code: 'not_ready', message: 'the views are being rebuilt' }
  t.match(waiting.json, { sandbox: true, status: 'not_ready', error })
})

t.test('a close lets requests in flight finish', async t => {
  const stub = stubDoors()
  const app = createApp({
    doors: stub.doors,
    logger: false,
    now: Date.now,
    newTraceId: () => id('tr'),
    publicUrl: 'http://service.example',
    version: '0',
    requestLimitPerMinute: 0,
    countRequest: createRequestWindows(monotonicTime)
  })
  const base = await app.listen({ port: 0, host: '127.0.0.1' })
  let release: (value: unknown) => void = () => undefined
  const arrived = new Promise<void>(resolve => {
    stub.once('messages.track', () => {
      resolve()
      return new Promise(done => {
        release = done
      })
    })
  })
  const { hostname, port } = new URL(base)
  const idle = connect(Number(port), hostname)
  await once(idle, 'connect')
  const head = `GET /v1/messages/${id('msg')} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEYS.full}\r\n\r\n`
  const answer = speak(base, head)
  await arrived
  const closed = app.close()
  release({ ok: false, code: 'resource_not_found' })
  t.match(await answer, /^HTTP\/1.1 404 /)
  await closed
  idle.destroy()
})
