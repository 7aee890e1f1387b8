/** Files of an instance: asked of its own address with its key, wherever the message says that they are. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import type { UnofficialLine } from '../../src/connectors/port.ts'
import { createMediaDownloads, type MediaDownload } from '../../src/connectors/unofficial/media.ts'

type Scope = { teardown(run: () => unknown): unknown }
const LIMIT = 1_000
const FILE = '/api/files/s1/false_5511900000001@c.us_3A00.jpg'
const remote = { path: FILE, providerId: '3A00', from: '5511900000001' }
const never = new AbortController().signal

async function instance(t: Scope, serve: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: { readonly url: string; readonly key: string | undefined }[] = []
  const server = createServer((request, response) => {
    const key = request.headers['x-api-key']
    seen.push({ url: request.url ?? '', key: typeof key === 'string' ? key : undefined })
    serve(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const downloads = createMediaDownloads({ timeoutMs: 2_000, bytesMax: LIMIT })
  t.teardown(async () => {
    await downloads.close()
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const line: UnofficialLine = { kind: 'unofficial', baseUrl, apiKey: 'key', session: 's 1', engine: 'noweb' }
  return { seen, line, downloads, baseUrl }
}

async function bytesOf(download: MediaDownload): Promise<string> {
  if (download.kind !== 'found') return download.kind
  return (await buffer(download.body)).toString()
}

t.test('a file is fetched from below the base address, with the key', async t => {
  const { seen, line, downloads } = await instance(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'image/jpeg', 'content-length': 5 }).end('bytes')
  })
  const found = await downloads.download(line, remote, never)
  t.match(found, { kind: 'found', size: 5, type: 'image/jpeg' })
  t.equal(await bytesOf(found), 'bytes')
  const behindPrefix = { ...line, baseUrl: `${line.baseUrl}/waha/`, apiKey: null }
  await bytesOf(await downloads.download(behindPrefix, remote, never))
  await bytesOf(await downloads.download(behindPrefix, { ...remote, path: `/waha${FILE}?x=1` }, never))
  t.same(seen, [
    { url: FILE, key: 'key' },
    { url: `/waha${FILE}`, key: undefined },
    { url: `/waha${FILE}?x=1`, key: undefined }
  ])
})

t.test('no path leads to anything but files', async t => {
  const { seen, line, downloads } = await instance(t, (_request, response) => response.writeHead(404).end())
  const paths = [null, '/api/sessions', '/api/files/../sessions', '/api/files/%2e%2e/sessions', '/api/files/..%2fkeys']
  for (const path of [...paths, '/api/files/a\\..\\b', 'http://elsewhere.example/x.jpg'])
    t.equal((await downloads.download(line, { ...remote, path }, never)).kind, 'gone', String(path))
  const asked = '/api/s%201/chats/5511900000001%40c.us/messages/false_5511900000001%40c.us_3A00?downloadMedia=true'
  t.same(new Set(seen.map(({ url }) => url)), new Set([asked]), 'only for the message itself')
})

t.test('a file that is gone is asked of the phone again', async t => {
  const renewed = { hasMedia: true, media: { url: 'http://waha:3000/api/files/s1/new.jpg', mimetype: 'image/jpeg' } }
  const { seen, line, downloads } = await instance(t, (request, response) => {
    if (request.url?.startsWith('/api/s%201/')) response.writeHead(200).end(JSON.stringify(renewed))
    else if (request.url === '/api/files/s1/new.jpg') response.writeHead(200).end('again')
    else response.writeHead(404).end('{}')
  })
  const hidden = { path: '/api/files/s1/false_123@lid_3A00.jpg', providerId: '3A00', from: '5511900000001' }
  t.equal(await bytesOf(await downloads.download(line, hidden, never)), 'again')
  t.equal(seen[1]?.url, '/api/s%201/chats/123%40lid/messages/false_123%40lid_3A00?downloadMedia=true')
})

t.test('what the instance cannot give', async t => {
  let status = 404
  const { line, downloads, seen, baseUrl } = await instance(t, (request, response) => {
    if (request.url?.includes('downloadMedia')) response.writeHead(status).end('{"hasMedia":true,"media":null}')
    else if (request.url?.includes('moved')) response.writeHead(302, { location: `${baseUrl}${FILE}` }).end()
    else response.writeHead(404).end()
  })
  for (const [answer, kind] of [
    [200, 'gone'],
    [400, 'gone'],
    [404, 'gone'],
    [501, 'gone'],
    [401, 'unavailable'],
    [422, 'unavailable'],
    [500, 'unavailable']
  ] as const) {
    status = answer
    t.equal((await downloads.download(line, remote, never)).kind, kind, `${answer}`)
  }
  seen.length = 0
  const moved = await downloads.download(line, { ...remote, path: '/api/files/moved' }, never)
  t.same(moved, { kind: 'unavailable', detail: 'http 302' })
  t.equal(seen.length, 1, 'a redirect is not followed')
  const nobody = { ...line, baseUrl: 'http://127.0.0.1:1' }
  t.same(await downloads.download(nobody, remote, never), { kind: 'unavailable', detail: 'ECONNREFUSED' })
  t.equal((await downloads.download({ ...line, baseUrl: 'nonsense' }, remote, never)).kind, 'unavailable')
  t.equal((await downloads.download({ ...line, apiKey: 'a\nb' }, remote, never)).kind, 'unavailable')
})

t.test('files beyond the limit', async t => {
  const { line, downloads } = await instance(t, (request, response) => {
    if (request.url?.includes('silent')) response.writeHead(200).end(Buffer.alloc(LIMIT + 1))
    else response.writeHead(200, { 'content-length': LIMIT + 1 }).end(Buffer.alloc(LIMIT + 1))
  })
  t.same(await downloads.download(line, remote, never), { kind: 'too_large' })
  const silent = await downloads.download(line, { ...remote, path: '/api/files/silent' }, never)
  t.match(silent, { kind: 'found', size: null })
  await t.rejects(bytesOf(silent), { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' })
})

t.test('whoever stops reading ends the transfer', async t => {
  const closed: Promise<void>[] = []
  const { line, downloads } = await instance(t, (_request, response) => {
    closed.push(new Promise(resolve => response.once('close', resolve)))
    response.writeHead(200, { 'content-length': 900 }).write('x')
  })
  const destroyed = await downloads.download(line, remote, never)
  if (destroyed.kind === 'found') destroyed.body.destroy()
  await closed[0]
  const ended = new AbortController()
  const aborted = await downloads.download(line, remote, ended.signal)
  const reading = bytesOf(aborted)
  ended.abort()
  await t.rejects(reading)
  await closed[1]
})
