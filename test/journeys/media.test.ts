/** Received media, from the phone to the tenant: kept encrypted, served in whole and in ranges, gone when it must be. */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { request } from 'undici'
import { eventually } from '../support/eventually.ts'
import { someone, type Tenant } from '../support/tenant.ts'
import type { WebhookEvent } from '../support/webhooks.ts'
import { startWorld } from '../support/world.ts'

/** What the service may need more while 100 MB pass: two copies of them would show. */
const RSS_GROWTH_MAX = 64 * 1024 * 1024

const world = await startWorld(t)
const { unofficial } = world
const tenant = await world.tenant('acme')
const hooks = await tenant.receiver(t)
const { id: channelId, session } = await tenant.unofficialNumber(unofficial, '5511970000101')
const mediaDir = join(world.dataDir, 'media')

type Told = { mediaId: string; mimeType: string; filename: string | null; fileSize: number | null; media: string }
let messages = 0

/** A phone sends a file; resolves with what the tenant is told of it. */
async function receive(message: object, from = someone(), on = session): Promise<Told> {
  const caption = `file ${++messages}`
  const answer = await unofficial.control<{ status: number }>('POST', `sessions/${on}/inbound`, {
    from,
    message: { caption, ...message }
  })
  if (answer.status !== 200) throw new Error(`the callback was answered ${answer.status}`)
  const isIt = (event: WebhookEvent): boolean => (event.data.message as { caption?: string })?.caption === caption
  const { event } = await hooks.got(caption, isIt)
  t.equal((event.data.message as Told).mediaId, event.data.messageId, 'no id of the platform')
  return event.data.message as Told
}

async function get(mediaId: string, headers: Record<string, string> = {}, who: Tenant = tenant, channel = channelId) {
  const answer = await request(`${world.url}/v1/media/${channel}/${mediaId}`, {
    headers: { authorization: `Bearer ${who.apiKey}`, ...headers }
  })
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) }
}

/** The one child process that runs the service of this test's main world. */
function serviceId(): number {
  const found = readdirSync('/proc').find(pid => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/environ`).includes(`DATA_DIR=${world.dataDir}\0`)
    } catch {
      return false
    }
  })
  return Number(found)
}

/** Bytes. */
const memoryOf = (pid: number, name: 'VmRSS' | 'VmHWM'): number =>
  1024 * Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

const filesIn = (directory: string): string[] =>
  existsSync(directory)
    ? readdirSync(directory, { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile())
        .map(entry => join(entry.parentPath, entry.name))
    : []
const fileOf = (mediaId: string): string | undefined =>
  filesIn(mediaDir).find(path => path.endsWith(`${mediaId}.media`))
const kept = (mediaId: string): Promise<string> => eventually('the file on the disk', () => fileOf(mediaId))
const codeOf = ({ bytes }: { bytes: Buffer }): string => JSON.parse(bytes.toString()).error.code

t.test('a file is kept encrypted and served, whole and in ranges, when the instance has long forgotten it', async t => {
  const bytes = randomBytes(200_000)
  const data = bytes.toString('base64')
  const from = someone()
  const told = await receive({ kind: 'document', data, filename: 'preço.pdf' }, from)
  t.match(told, { media: 'document', mimeType: 'application/pdf', filename: 'preço.pdf', fileSize: bytes.length })
  const path = await kept(told.mediaId)
  t.notOk(path.includes(from))
  const raw = readFileSync(path)
  t.notOk(raw.includes(bytes.subarray(0, 64)))
  t.notMatch(raw.subarray(0, 1024).toString(), /pdf|pre/)

  await unofficial.online(false)
  const whole = await get(told.mediaId)
  t.equal(whole.status, 200)
  t.ok(whole.bytes.equals(bytes))
  t.match(whole.headers, {
    'content-type': 'application/pdf',
    'content-length': String(bytes.length),
    'cache-control': 'private, max-age=86400',
    'content-disposition': `attachment; filename="pre_o.pdf"; filename*=UTF-8''pre%C3%A7o.pdf`
  })
  const part = await get(told.mediaId, { range: 'bytes=65530-131080' })
  t.equal(part.status, 206)
  t.ok(part.bytes.equals(bytes.subarray(65_530, 131_081)))
  t.equal(part.headers['content-range'], `bytes 65530-131080/${bytes.length}`)
  const beyond = await get(told.mediaId, { range: `bytes=${bytes.length}-` })
  t.equal(beyond.status, 416)
  t.equal(beyond.headers['content-range'], `bytes */${bytes.length}`)
  t.equal(codeOf(beyond), 'range_not_satisfiable')
  const head = await request(`${world.url}/v1/media/${channelId}/${told.mediaId}`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${tenant.apiKey}` }
  })
  t.match(head, { statusCode: 200, headers: { 'content-length': String(bytes.length) } })
  await unofficial.online(true)
})

t.test('without our own file it comes straight from the instance, which asks the phone again', async t => {
  const bytes = randomBytes(150_000)
  const { mediaId } = await receive({ kind: 'image', data: bytes.toString('base64') })
  const path = await kept(mediaId)
  const raw = readFileSync(path)
  writeFileSync(path, raw.subarray(0, raw.length - 1))
  const whole = await get(mediaId)
  t.equal(whole.status, 200, 'a damaged file is no file')
  t.ok(whole.bytes.equals(bytes))
  t.equal(fileOf(mediaId), undefined)
  const part = await get(mediaId, { range: 'bytes=-70000' })
  t.equal(part.status, 206)
  t.ok(part.bytes.equals(bytes.subarray(80_000)))
  await unofficial.online(false)
  const away = await get(mediaId)
  t.equal(away.status, 502)
  t.equal(codeOf(away), 'provider_unavailable')
  await unofficial.online(true)
})

t.test('what is no received medium of this channel and tenant is not found', async t => {
  const { mediaId } = await receive({ kind: 'image' })
  const other = await world.tenant('globex')
  const sent = await tenant.send(channelId)
  const official = await tenant.officialNumber(world.official)
  const second = await tenant.unofficialNumber(unofficial, '5511970000102')
  const unknown = 'msg_00000000000000000000000000'
  for (const [what, code, answer] of [
    ["another tenant's channel", 'channel_not_found', await get(mediaId, {}, other)],
    ['no such channel', 'channel_not_found', await get(mediaId, {}, tenant, 'ch_00000000000000000000000000')],
    ['an official channel', 'resource_not_found', await get(mediaId, {}, tenant, official.id)],
    ['another channel', 'resource_not_found', await get(mediaId, {}, tenant, second.id)],
    ['an unknown id', 'resource_not_found', await get(unknown)],
    ['a message that was sent', 'resource_not_found', await get(sent.messageId)],
    ['no id at all', 'resource_not_found', await get('..%2f..%2fmaster.key')]
  ] as const) {
    t.equal(answer.status, 404, what)
    t.equal(codeOf(answer), code, what)
  }
})

t.test('a fetch that fails is repeated, and the message does not wait for it', async t => {
  const bytes = randomBytes(1_000)
  await unofficial.online(false)
  const { mediaId } = await receive({ kind: 'video', data: bytes.toString('base64') })
  t.equal(fileOf(mediaId), undefined)
  await unofficial.online(true)
  await kept(mediaId)
  t.ok((await get(mediaId)).bytes.equals(bytes))
  await eventually('no mark of a fetch', () => filesIn(mediaDir).every(path => !path.includes(`${mediaId}.want`)))
})

t.test('an instance that names another host is asked at its own address, and shows no key to anybody', async t => {
  const { mediaId } = await receive({ kind: 'image', data: Buffer.from('mine').toString('base64') })
  t.equal((await get(mediaId)).bytes.toString(), 'mine', 'the simulator names http://localhost:3000')
})

t.test('a hundred megabytes pass without being held', { skip: process.platform !== 'linux' }, async t => {
  const pid = serviceId()
  await get((await receive({ kind: 'image' })).mediaId)
  const size = 100 * 1024 * 1024
  const before = memoryOf(pid, 'VmRSS')
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const { mediaId } = await receive({ kind: 'video', bytes: size })
  await eventually('the file on the disk', () => fileOf(mediaId), { limitMs: 30_000 })
  const fetched = memoryOf(pid, 'VmHWM') - before
  t.ok(fetched < RSS_GROWTH_MAX, `fetched with ${Math.round(fetched / 1e6)} MB more`)

  const digestOf = async (): Promise<{ length: number; digest: string }> => {
    const answer = await request(`${world.url}/v1/media/${channelId}/${mediaId}`, {
      headers: { authorization: `Bearer ${tenant.apiKey}` }
    })
    const hash = createHash('sha256')
    let length = 0
    for await (const piece of answer.body) {
      hash.update(piece)
      length += piece.length
    }
    return { length, digest: hash.digest('hex') }
  }
  const fromFile = await digestOf()
  t.equal(fromFile.length, size)
  rmSync(await kept(mediaId))
  t.same(await digestOf(), fromFile, 'straight from the instance it is the same')
  const grown = memoryOf(pid, 'VmHWM') - before
  t.ok(grown < RSS_GROWTH_MAX, `served with ${Math.round(grown / 1e6)} MB more`)
})

t.test('a client that leaves in the middle takes nothing with it', async t => {
  const { mediaId } = await receive({ kind: 'video', bytes: 20 * 1024 * 1024 })
  const path = await kept(mediaId)
  for (let n = 0; n < 5; n++) {
    const answer = await request(`${world.url}/v1/media/${channelId}/${mediaId}`, {
      headers: { authorization: `Bearer ${tenant.apiKey}` }
    })
    await new Promise(resolve => answer.body.once('readable', resolve))
    answer.body.on('error', () => undefined).destroy()
  }
  if (process.platform === 'linux')
    await eventually('no open file', () => {
      const open = `/proc/${serviceId()}/fd`
      return readdirSync(open).every(fd => linkOf(join(open, fd)) !== path)
    })
  t.equal((await get(mediaId)).bytes.length, 20 * 1024 * 1024)
})

t.test('an erased contact has no files any more', async t => {
  const from = someone()
  const other = await receive({ kind: 'image', data: Buffer.from('another').toString('base64') })
  const { mediaId } = await receive({ kind: 'image', data: Buffer.from('private').toString('base64') }, from)
  const path = await kept(mediaId)
  await kept(other.mediaId)
  const erased = await tenant.ask('POST', '/v1/erasure', { contact: from })
  t.equal(erased.status, 200)
  t.notOk(existsSync(path))
  t.notOk(existsSync(join(path, '..')), 'nor the folder')
  t.equal(codeOf(await get(mediaId)), 'resource_not_found')
  t.equal((await get(other.mediaId)).bytes.toString(), 'another')
})

t.test('a kill before the fetch is made good by the next start', async t => {
  const bytes = randomBytes(2_000)
  await unofficial.online(false)
  const { mediaId } = await receive({ kind: 'audio', data: bytes.toString('base64') })
  await eventually('the mark', () => filesIn(mediaDir).some(path => path.includes(`${mediaId}.want`)))
  await world.service.kill()
  await unofficial.online(true)
  await world.service.start()
  await kept(mediaId)
  t.ok((await get(mediaId)).bytes.equals(bytes))
})

t.test('a folder that takes no files costs no message, and the bytes still come', async t => {
  const stranger = await world.tenant('initech')
  const number = await stranger.unofficialNumber(unofficial, '5511970000103')
  writeFileSync(join(mediaDir, stranger.tenantId), 'in the way')
  await stranger.ask('POST', '/v1/webhooks/destinations', { url: hooks.url })
  const data = Buffer.from('still here').toString('base64')
  const { mediaId } = await receive({ kind: 'document', data }, someone(), number.session)
  await eventually('a warning', () => world.service.output().includes('fetching a received medium failed'))
  t.equal((await get(mediaId, {}, stranger, number.id)).bytes.toString(), 'still here')
})

t.test('after its time a medium is gone, although the instance still has it', async t => {
  const aside = await startWorld(t, { settings: { MEDIA_RETENTION_HOURS: '0.001' } })
  const owner = await aside.tenant('initech')
  const number = await owner.unofficialNumber(aside.unofficial, '5511970000201')
  const seen = await owner.receiver(t)
  const message = { kind: 'document', data: Buffer.from('soon gone').toString('base64') }
  await aside.unofficial.control('POST', `sessions/${number.session}/inbound`, { from: someone(), message })
  const { event } = await seen.got('the file', one => one.type === 'message.received')
  const path = `/v1/media/${number.id}/${event.data.messageId}`
  t.equal((await owner.ask('GET', path)).status, 200)
  await eventually('the file', () => filesIn(join(aside.dataDir, 'media')).some(name => name.endsWith('.media')))
  await eventually('404', async () => (await owner.ask('GET', path)).status === 404)
  await eventually('an empty folder', () => readdirSync(join(aside.dataDir, 'media')).length === 0)
})
