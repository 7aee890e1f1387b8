/** The media route: headers, ranges, HEAD, and streams that end early on either side. */
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { request } from 'undici'
import type { MediaItem } from '../../src/http/ports.ts'
import { eventually } from '../support/eventually.ts'
import { type Answer, assertRefusal, listen } from './listening.ts'
import { id, KEYS } from './stub-doors.ts'

const PATH = `/v1/media/${id('ch')}/${id('msg')}`
const BYTES = Buffer.from('0123456789')

type Shown = { item: MediaItem; wanted: unknown[]; discarded: number }

function shown(more: Partial<MediaItem> = {}): Shown {
  const state: Shown = {
    wanted: [],
    discarded: 0,
    item: {
      type: 'image/jpeg',
      filename: null,
      size: BYTES.length,
      body(range) {
        state.wanted.push(range)
        return Readable.from([BYTES.subarray(range?.first ?? 0, (range?.last ?? 9) + 1)])
      },
      discard: () => void state.discarded++,
      ...more
    }
  }
  return state
}

async function listening(t: Test) {
  const { stub, base, ask } = await listen(t)
  let answer: unknown = { ok: false, code: 'resource_not_found' }
  const asked: unknown[][] = []
  const open = async (...args: unknown[]): Promise<unknown> => {
    asked.push(args)
    return answer
  }
  Object.assign(stub.doors, { media: { open } })
  const show = (more?: Partial<MediaItem>): Shown => {
    const made = shown(more)
    answer = { ok: true, value: made.item }
    return made
  }
  const get = (headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
    ask({ method, path: PATH, headers })
  return { stub, base, ask, asked, show, get, refuses: (code: string) => (answer = { ok: false, code }) }
}

t.test('the whole of it', async t => {
  const { asked, show, get } = await listening(t)
  const { wanted } = show()
  const answer = await get()
  t.equal(answer.status, 200)
  t.equal(answer.text, '0123456789')
  t.match(answer.headers, {
    'content-type': 'image/jpeg',
    'content-length': '10',
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=86400',
    'x-content-type-options': 'nosniff'
  })
  t.notOk(answer.headers['content-disposition'])
  t.same(wanted, [null])
  t.match(asked, [[{ tenantId: id('tn') }, id('ch'), id('msg')]])
})

t.test('ranges', async t => {
  const { show, get } = await listening(t)
  for (const [range, text] of [
    ['bytes=0-0', '0'],
    ['bytes=2-4', '234'],
    ['bytes=7-', '789'],
    ['bytes=-3', '789'],
    ['bytes=-99', '0123456789'],
    ['bytes=5-99', '56789'],
    ['Bytes= 9-9', '9']
  ] as const) {
    show()
    const answer = await get({ range })
    t.equal(answer.status, 206, range)
    t.equal(answer.text, text)
    const first = BYTES.indexOf(text)
    t.equal(answer.headers['content-range'], `bytes ${first}-${first + text.length - 1}/10`)
    t.equal(answer.headers['content-length'], String(text.length))
    t.equal(answer.headers['cache-control'], 'private, max-age=86400')
  }
  for (const range of ['bytes=0-1,3-4', 'bytes=4-2', 'bytes=a-b', 'bytes=-', 'lines=1-2', 'bytes', 'bytes=1.5-2']) {
    show()
    const answer = await get({ range })
    t.equal(answer.status, 200, `${range} counts as none`)
    t.equal(answer.text, '0123456789')
    t.notOk(answer.headers['content-range'])
  }
  for (const range of ['bytes=10-', 'bytes=10-20', 'bytes=99999999999-', 'bytes=-0']) {
    const state = show()
    const answer = await get({ range })
    assertRefusal(t, answer, 416, 'range_not_satisfiable')
    t.equal(answer.headers['content-range'], 'bytes */10', range)
    t.equal(answer.headers['cache-control'], 'no-store')
    t.same([state.wanted, state.discarded], [[], 1], 'what was opened is freed')
  }
  show()
  t.equal((await get({ range: 'bytes=0-1', 'if-range': '"x"' })).status, 200, 'a condition that nothing can meet')
})

t.test('a size that nobody knows', async t => {
  const { show, get } = await listening(t)
  show({ size: null })
  const answer = await get({ range: 'bytes=2-4' })
  t.equal(answer.status, 200)
  t.equal(answer.text, '0123456789')
  t.notOk(answer.headers['accept-ranges'])
  t.notOk(answer.headers['content-length'])
  const empty = { size: 0, body: () => Readable.from([]) }
  show(empty)
  t.match(await get(), { status: 200, text: '', headers: { 'content-length': '0' } })
  show(empty)
  t.equal((await get({ range: 'bytes=0-' })).status, 416)
})

t.test('HEAD says the same without a body', async t => {
  const { show, get } = await listening(t)
  const state = show({ filename: 'a.pdf' })
  const whole = await get({}, 'HEAD')
  t.match(whole, { status: 200, text: '', headers: { 'content-length': '10', 'accept-ranges': 'bytes' } })
  t.equal(whole.headers['cache-control'], 'private, max-age=86400')
  const part = await get({ range: 'bytes=1-2' }, 'HEAD')
  t.match(part, { status: 206, text: '', headers: { 'content-length': '2', 'content-range': 'bytes 1-2/10' } })
  t.same([state.wanted, state.discarded], [[], 2])
})

t.test('types and names that strangers chose', async t => {
  const { show, get } = await listening(t)
  for (const [type, told] of [
    ['audio/ogg; codecs=opus', 'audio/ogg; codecs=opus'],
    ['application/vnd.ms-excel', 'application/vnd.ms-excel'],
    ['image/svg+xml', 'image/svg+xml'],
    ['nonsense', 'application/octet-stream'],
    ['text/html\r\nset-cookie: a=b', 'application/octet-stream'],
    ['text/html; charset="a;b"', 'application/octet-stream'],
    [`image/${'x'.repeat(130)}`, 'application/octet-stream'],
    ['', 'application/octet-stream']
  ] as const) {
    show({ type })
    const { headers } = await get()
    t.equal(headers['content-type'], told)
    t.match(headers['content-security-policy'], /^sandbox/)
  }
  for (const [filename, told] of [
    ['a b.pdf', `attachment; filename="a b.pdf"; filename*=UTF-8''a%20b.pdf`],
    ['preço 👋.pdf', `attachment; filename="pre_o __.pdf"; filename*=UTF-8''pre%C3%A7o%20%F0%9F%91%8B.pdf`],
    ['../"x"\r\n\0;.pdf', `attachment; filename=".._"x"___;.pdf"; filename*=UTF-8''.._%22x%22___%3B.pdf`],
    ['\ud800.txt', `attachment; filename="_.txt"; filename*=UTF-8''_.txt`],
    ["it's (1)*.txt", `attachment; filename="it's (1)*.txt"; filename*=UTF-8''it%27s%20%281%29%2A.txt`]
  ] as const) {
    show({ filename })
    const expected = told.replace('"x"', '_x_')
    t.equal((await get()).headers['content-disposition'], expected)
  }
})

t.test('refusals', async t => {
  const { stub, ask, asked, get, refuses } = await listening(t)
  assertRefusal(t, await get(), 404, 'resource_not_found')
  refuses('channel_not_found')
  assertRefusal(t, await get(), 404, 'channel_not_found')
  refuses('provider_unavailable')
  assertRefusal(t, await get(), 502, 'provider_unavailable')
  const before = asked.length
  assertRefusal(t, await ask({ path: `/v1/media/x/${id('msg')}` }), 404, 'channel_not_found')
  assertRefusal(t, await ask({ path: PATH, key: null }), 401, 'unauthorized')
  stub.allow(['messages:send', 'channels:read'])
  assertRefusal(t, await ask({ path: PATH, key: KEYS.limited }), 403, 'forbidden')
  t.equal(asked.length, before)
})

t.test('a client that goes away ends the stream', async t => {
  const { base, show } = await listening(t)
  let given = 0
  const endless = new Readable({
    read() {
      given += 65_536
      this.push(Buffer.alloc(65_536))
    }
  })
  show({ size: 2 ** 40, body: () => endless })
  const answer = await request(base + PATH, { headers: { authorization: `Bearer ${KEYS.full}` } })
  await new Promise(resolve => answer.body.once('readable', resolve))
  let last = -1
  await eventually('a stream at rest while nobody reads', async () => {
    const rests = given === last
    last = given
    await new Promise(resolve => setTimeout(resolve, 50))
    return rests
  })
  t.ok(given < 64 * 1024 * 1024, `${given} bytes were taken from the stream`)
  answer.body.on('error', () => undefined).destroy()
  await eventually('the end of the stream', () => endless.destroyed)
})

t.test('a stream that breaks off breaks off the answer', async t => {
  const { show, get } = await listening(t)
  const broken = async function* () {
    yield BYTES.subarray(0, 5)
    throw new Error('the line broke')
  }
  show({ body: () => Readable.from(broken()) })
  await t.rejects(get(), 'never a short answer that looks whole')
})
