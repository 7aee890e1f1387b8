import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { createGuard } from '../../src/connectors/webhook/guard.ts'
import {
  createWebhookPoster,
  type PostAnswer,
  type WebhookPost,
  type WebhookPoster,
  type WebhookPosterOptions
} from '../../src/connectors/webhook/post.ts'

const guard = createGuard({ allowedCidrs: ['127.0.0.0/8'] })
const body = Buffer.from('{"id":"evt_1","text":"grüße"}')

const posterFor = (test: Test, options: Partial<WebhookPosterOptions> = {}): WebhookPoster => {
  const defaults = { guard, timeoutMs: 1_000, userAgent: 'ledgerline/0.1.0', maxConnectionsPerOrigin: 4 }
  const poster = createWebhookPoster({ ...defaults, ...options })
  test.teardown(() => poster.close())
  return poster
}

type Listening = { url: string; sockets: Set<Socket>; opened: () => number }

const listening = async (test: Test, server: Server): Promise<Listening> => {
  const sockets = new Set<Socket>()
  let opened = 0
  server.on('connection', (socket: Socket) => {
    opened += 1
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  test.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=1`, sockets, opened: () => opened }
}

const http = (test: Test, listener: RequestListener) => listening(test, createServer(listener))
const tcp = (test: Test, onBytes: (socket: Socket) => void) =>
  listening(
    test,
    createTcpServer(socket => socket.once('data', () => onBytes(socket)))
  )

const send = (poster: WebhookPoster, url: string, more: Partial<WebhookPost> = {}): Promise<PostAnswer> =>
  poster.post({ url, body, headers: {}, ...more })

t.test('the request carries the body, the given headers and ours', async t => {
  const chunks: Buffer[] = []
  const { url } = await http(t, (request, response) => {
    request
      .on('data', chunk => chunks.push(chunk))
      .on('end', () => {
        response.writeHead(200, { 'x-seen': 'yes' }).end(JSON.stringify([request.method, request.url, request.headers]))
      })
  })
  const headers = {
    'X-Service-Event-Id': 'evt_1',
    Host: 'evil.test',
    'Transfer-Encoding': 'chunked',
    'content-length': '3'
  }
  const answer = await send(posterFor(t), url, { headers: { ...headers, Connection: 'close', 'User-Agent': 'other' } })
  if (answer.kind !== 'answered') return t.fail('an answer was expected')
  const [method, path, seen] = JSON.parse(answer.snippet)
  t.same([answer.status, method, path, Buffer.concat(chunks)], [200, 'POST', '/hook?a=1', body])
  t.match(seen, {
    'x-service-event-id': 'evt_1',
    'content-type': 'application/json',
    'user-agent': 'ledgerline/0.1.0',
    host: new URL(url).host,
    'content-length': String(body.length)
  })
  t.notOk('transfer-encoding' in seen)
  t.ok(answer.durationMs >= 0 && answer.durationMs < 1_000)
})

t.test('every status is an answer, and redirects are not followed', async t => {
  const visited: string[] = []
  const { url } = await http(t, (request, response) => {
    visited.push(request.url ?? '')
    response.writeHead(Number(request.url?.slice(1)), { location: '/elsewhere' }).end()
  })
  const poster = posterFor(t)
  const statuses = [200, 204, 301, 302, 307, 308, 400, 410, 429, 500, 503]
  for (const status of statuses) {
    t.match(await send(poster, new URL(`/${status}`, url).href), { kind: 'answered', status, retryAfterMs: null })
  }
  t.same(
    visited,
    statuses.map(status => `/${status}`)
  )
})

t.test('Retry-After is read as seconds or as a date, an hour at most', async t => {
  const now = Date.parse('2027-01-01T00:00:00Z')
  const { url } = await http(t, (request, response) => {
    response.writeHead(429, { 'retry-after': String(request.headers['x-wait']) }).end()
  })
  const poster = posterFor(t, { now: () => now })
  const waits: [string, number | null][] = [
    ['0', 0],
    ['120', 120_000],
    ['3600', 3_600_000],
    ['86400', 3_600_000],
    ['Fri, 01 Jan 2027 00:01:30 GMT', 90_000],
    ['Thu, 31 Dec 2026 23:00:00 GMT', 0],
    ['Sat, 02 Jan 2027 00:00:00 GMT', 3_600_000],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['Monday morning', null]
  ]
  for (const [wait, retryAfterMs] of waits) {
    t.match(await send(poster, url, { headers: { 'x-wait': wait } }), { status: 429, retryAfterMs }, wait)
  }
})

t.test('a receiver that never answers, or only half, times out', async t => {
  const silent = await tcp(t, () => {})
  const half = await tcp(t, socket => socket.write('HTTP/1.1 200 OK\r\nx-a: b\r\n'))
  const early = await tcp(t, socket => socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'))
  const poster = posterFor(t, { timeoutMs: 150 })
  for (const { url } of [silent, half, early]) {
    const answer = await send(poster, url)
    t.match(answer, { kind: 'failed', error: 'timeout' })
    t.ok(answer.durationMs >= 140 && answer.durationMs < 900, `${answer.durationMs} ms`)
  }
})

t.test('connections that fail are told apart', async t => {
  const reset = await tcp(t, socket => socket.resetAndDestroy())
  const closed = await tcp(t, socket => socket.end())
  const garbage = await tcp(t, socket => socket.end('SSH-2.0-OpenSSH\r\n'))
  const plain = await http(t, (_, response) => response.end())
  const gone = await new Promise<number>(resolve => {
    const server = createTcpServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
  const poster = posterFor(t)
  t.match(await send(poster, reset.url), { kind: 'failed', error: 'reset' })
  t.match(await send(poster, closed.url), { kind: 'failed', error: 'reset' })
  t.match(await send(poster, garbage.url), { kind: 'failed', error: 'other' })
  t.match(await send(poster, plain.url.replace('http:', 'https:')), { kind: 'failed', error: 'tls' })
  t.match(await send(poster, `http://127.0.0.1:${gone}/`), { kind: 'failed', error: 'connection_refused' })
  t.match(await send(poster, plain.url, { headers: { 'x-bad': 'a\r\nb: c' } }), { kind: 'failed', error: 'other' })
})

t.test('blocked addresses and unknown names are told apart, literal addresses are checked too', async t => {
  const lookup = async (name: string) => (name === 'inside.test' ? ['10.0.0.1'] : Promise.reject(new Error('unknown')))
  const poster = posterFor(t, { guard: createGuard({ allowedCidrs: [], lookup }) })
  const blocked = [
    'http://inside.test/',
    'http://127.0.0.1:1/',
    'http://[::1]:1/',
    'http://0x7f.1/',
    'ftp://a.test/',
    'x'
  ]
  for (const url of blocked) t.match(await send(poster, url), { kind: 'failed', error: 'blocked' }, url)
  t.match(await send(poster, 'http://unknown.test/'), { kind: 'failed', error: 'dns' })
})

t.test('a literal address is checked at connection time as well', async t => {
  const { url, opened } = await http(t, (_, response) => response.end())
  const inattentive = { ...createGuard({ allowedCidrs: [] }), checkUrl: () => ({ ok: true }) as const }
  t.match(await send(posterFor(t, { guard: inattentive }), url), { kind: 'failed', error: 'blocked' })
  t.equal(opened(), 0)
})

t.test('the snippet is the first kilobyte, cut between characters', async t => {
  const bodies: Buffer[] = [
    Buffer.from('ok'),
    Buffer.from('é'.repeat(2_000)),
    Buffer.from(`a${'é'.repeat(600)}`),
    Buffer.alloc(5_000, 0xff)
  ]
  const { url } = await http(t, (_, response) => response.end(bodies.shift()))
  const poster = posterFor(t)
  for (const expected of ['ok', 'é'.repeat(512), `a${'é'.repeat(511)}`, '\ufffd'.repeat(341)]) {
    t.match(await send(poster, url), { kind: 'answered', snippet: expected })
  }
})

t.test('an endless body is cut off and its connection closed, the answer stands', async t => {
  let sentBytes = 0
  const { url, sockets } = await http(t, (_, response) => {
    const pour = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384, 0x61))) sentBytes += 16_384
    }
    response.on('drain', pour)
    pour()
  })
  const answer = await send(posterFor(t), url)
  t.match(answer, { kind: 'answered', status: 200, snippet: 'a'.repeat(1024) })
  const [socket] = sockets
  if (socket !== undefined) await new Promise(resolve => socket.once('close', resolve))
  t.ok(sentBytes < 32 * 1024 * 1024, `${sentBytes} bytes were sent`)
})

t.test('a body that drips is given up after a second, the answer stands', async t => {
  const { url, sockets } = await http(t, (_, response) => {
    response.writeHead(200).write('first')
  })
  const answer = await send(posterFor(t, { timeoutMs: 300 }), url)
  t.match(answer, { kind: 'answered', status: 200, snippet: 'first' })
  t.ok(answer.durationMs < 300, 'the duration ends with the headers')
  const [socket] = sockets
  if (socket !== undefined) await new Promise(resolve => socket.once('close', resolve))
})

t.test('a body that breaks off leaves its answer standing', async t => {
  const { url } = await tcp(t, socket => socket.end('HTTP/1.1 500 Oops\r\ncontent-length: 100\r\n\r\nhalf'))
  t.match(await send(posterFor(t), url), { kind: 'answered', status: 500, snippet: 'half' })
})

t.test('connections are kept alive and shared, within the limit', async t => {
  const { url, opened } = await http(t, (_, response) => response.end('thanks'))
  const poster = posterFor(t)
  const answers = await Promise.all(Array.from({ length: 400 }, () => send(poster, url)))
  t.ok(answers.every(answer => answer.kind === 'answered' && answer.status === 200))
  t.ok(opened() <= 4, `${opened()} connections for 400 posts`)
})

t.test('a receiver that hangs holds up neither another origin nor another lane of its own', async t => {
  let hanging = 0
  const { url } = await http(t, (request, response) => {
    if (request.url === '/slow') hanging += 1
    else response.writeHead(204).end()
  })
  const other = await http(t, (_, response) => response.writeHead(204).end())
  const poster = posterFor(t, { timeoutMs: 600, maxConnectionsPerOrigin: 2 })
  const slow = Array.from({ length: 3 }, () => send(poster, new URL('/slow', url).href, { lane: 'whd_slow' }))
  const [fast, elsewhere] = await Promise.all([send(poster, url, { lane: 'whd_fast' }), send(poster, other.url)])
  t.match([fast, elsewhere], [{ status: 204 }, { status: 204 }])
  t.ok(fast.durationMs < 500 && elsewhere.durationMs < 500)
  t.ok(hanging <= 2, 'the third waits for a place')
  for (const answer of await Promise.all(slow)) {
    t.match(answer, { kind: 'failed', error: 'timeout' })
    t.ok(answer.durationMs < 1_100, 'waiting for a place is not part of an attempt')
  }
  t.equal(hanging, 3)
})

t.test('a post can be called off: before, while waiting and under way', async t => {
  const { url, sockets } = await tcp(t, () => caller.abort())
  const caller = new AbortController()
  const poster = posterFor(t, { maxConnectionsPerOrigin: 1 })
  const underWay = send(poster, url, { signal: caller.signal })
  const waiting = send(poster, url, { signal: caller.signal })
  t.match(await Promise.all([underWay, waiting]), [{ error: 'other' }, { error: 'other' }])
  t.match(await send(poster, url, { signal: AbortSignal.abort() }), { kind: 'failed', error: 'other' })
  const [socket] = sockets
  if (socket !== undefined) await new Promise(resolve => socket.once('close', resolve))
})

t.test('deliveries leave from the source address', async t => {
  const { url } = await http(t, (request, response) => response.end(request.socket.remoteAddress))
  t.match(await send(posterFor(t, { sourceAddress: '127.0.0.9' }), url), { snippet: '127.0.0.9' })
  const named = createGuard({ allowedCidrs: ['127.0.0.0/8', '::1'], lookup: async () => ['::1', '127.0.0.1'] })
  const poster = posterFor(t, { sourceAddress: '127.0.0.9', guard: named })
  const { port } = new URL(url)
  t.match(await send(poster, `http://receiver.test:${port}/`), { snippet: '127.0.0.9' }, 'in the family of the source')
})

t.test('closing ends what is under way', async t => {
  const { url } = await tcp(t, () => void poster.close())
  const poster = posterFor(t, { maxConnectionsPerOrigin: 1 })
  const answers = await Promise.all([send(poster, url), send(poster, url)])
  t.match(answers, [{ kind: 'failed' }, { kind: 'failed' }])
})
