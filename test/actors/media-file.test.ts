/** The encrypted file of a received medium: any range opens, nothing that was touched does. */
import { randomBytes } from 'node:crypto'
import { openSync, readdirSync, readFileSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  CHUNK_BYTES,
  HEADER_BYTES,
  MEDIA_BYTES_MAX,
  MediaTooLarge,
  type OpenFile,
  openMediaFile,
  TAG_BYTES,
  writeMediaFile
} from '../../src/actors/media-file.ts'
import { temporaryDirectory } from '../support/log.ts'

const directory = temporaryDirectory(t)
const seal = { messageId: 'msg_a', contactKey: randomBytes(32) }
const facts = { type: 'image/jpeg', created: '2024-05-01T00:00:00.000Z' }
const SEALED_CHUNK = CHUNK_BYTES + TAG_BYTES
let files = 0

/** In pieces whose borders have nothing to do with the chunks'. */
async function* pieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

async function written(bytes: Buffer, length = 10_007): Promise<string> {
  const path = join(directory, `${++files}.media`)
  t.equal(await writeMediaFile(path, seal, facts, pieces(bytes, length)), bytes.length)
  return path
}

async function opened(path: string): Promise<OpenFile> {
  const file = await openMediaFile(path, seal)
  if (file.kind !== 'open') throw new Error(`the file is ${file.kind}`)
  return file
}

async function read(path: string, first: number, last: number): Promise<Buffer> {
  const collected: Buffer[] = []
  for await (const piece of (await opened(path)).body(first, last)) collected.push(piece)
  return Buffer.concat(collected)
}

t.test('files of every awkward size come back whole', async t => {
  const sizes = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES, 3 * CHUNK_BYTES + 17]
  for (const size of sizes)
    for (const length of [1_000, CHUNK_BYTES, 1_000_000]) {
      const bytes = randomBytes(size)
      const path = await written(bytes, length)
      const file = await opened(path)
      t.match(file, { size, type: 'image/jpeg' })
      await file.close()
      t.ok(bytes.equals(await read(path, 0, size - 1)), `${size} bytes in pieces of ${length}`)
    }
})

t.test('ranges at and around the borders of chunks', async t => {
  const bytes = randomBytes(3 * CHUNK_BYTES + 100)
  const path = await written(bytes)
  const marks = [
    0,
    1,
    CHUNK_BYTES - 1,
    CHUNK_BYTES,
    CHUNK_BYTES + 1,
    2 * CHUNK_BYTES,
    3 * CHUNK_BYTES,
    bytes.length - 1
  ]
  for (const first of marks)
    for (const last of marks.filter(mark => mark >= first))
      t.ok(bytes.subarray(first, last + 1).equals(await read(path, first, last)), `${first}-${last}`)
})

t.test('a range of the middle needs the middle only', async t => {
  const bytes = randomBytes(5 * CHUNK_BYTES)
  const path = await written(bytes)
  const spoilt = readFileSync(path)
  spoilt.fill(0, HEADER_BYTES, HEADER_BYTES + 2 * SEALED_CHUNK)
  writeFileSync(path, spoilt)
  const first = 2 * CHUNK_BYTES
  t.ok(bytes.subarray(first, first + 10).equals(await read(path, first, first + 9)))
  await t.rejects(read(path, first - 1, first))
})

t.test('the file shows neither its bytes nor its type', async t => {
  const bytes = Buffer.alloc(CHUNK_BYTES * 2, 'a secret that repeats ')
  const raw = readFileSync(await written(bytes))
  for (const clear of ['secret', 'image/jpeg', 'jpeg']) t.notOk(raw.includes(clear), clear)
  const [one, two] = [0, 1].map(index => raw.subarray(HEADER_BYTES + index * SEALED_CHUNK).subarray(0, CHUNK_BYTES))
  t.notOk(two && one?.equals(two), 'equal chunks look different')
})

t.test('another key, and another message, open nothing', async t => {
  const path = await written(randomBytes(100))
  t.same(await openMediaFile(path, { ...seal, contactKey: randomBytes(32) }), { kind: 'damaged' })
  t.same(await openMediaFile(path, { ...seal, messageId: 'msg_b' }), { kind: 'damaged' })
  t.same(await openMediaFile(join(directory, 'none'), seal), { kind: 'missing' })
})

t.test('a file that was cut or grew is noticed before the first byte', async t => {
  const bytes = randomBytes(2 * CHUNK_BYTES + 5)
  const whole = readFileSync(await written(bytes))
  const cuts = [0, 10, HEADER_BYTES, HEADER_BYTES + 1, HEADER_BYTES + SEALED_CHUNK, whole.length - 5 - TAG_BYTES]
  for (const length of [...cuts, whole.length - 1]) {
    const path = await written(bytes)
    truncateSync(path, length)
    t.same(await openMediaFile(path, seal), { kind: 'damaged' }, `cut to ${length}`)
  }
  const grown = await written(bytes)
  writeFileSync(grown, Buffer.concat([whole, Buffer.alloc(1)]))
  t.same(await openMediaFile(grown, seal), { kind: 'damaged' })
})

t.test('chunks that changed places, bits or files do not open', async t => {
  const bytes = randomBytes(3 * CHUNK_BYTES)
  const place = (index: number): number => HEADER_BYTES + index * SEALED_CHUNK
  const swapped = await written(bytes)
  const raw = readFileSync(swapped)
  const other = readFileSync(await written(bytes))
  writeSync(openSync(swapped, 'r+'), raw.subarray(place(1), place(2)), 0, SEALED_CHUNK, place(0))
  await t.rejects(read(swapped, 0, 10), 'chunk 1 in the place of chunk 0')
  t.equal((await read(swapped, CHUNK_BYTES, CHUNK_BYTES + 10)).length, 11, 'the rest is as it was')

  const flipped = await written(bytes)
  const changed = readFileSync(flipped)
  const at = place(1) + 77
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
  writeFileSync(flipped, changed)
  await t.rejects(read(flipped, 0, bytes.length - 1), 'one bit')

  const mixed = await written(bytes)
  writeSync(openSync(mixed, 'r+'), other.subarray(place(2), place(3)), 0, SEALED_CHUNK, place(2))
  await t.rejects(read(mixed, 2 * CHUNK_BYTES, 2 * CHUNK_BYTES + 10), 'a chunk of another file')
})

t.test('what is too large, and what breaks off, rejects', async t => {
  const megabyte = Buffer.alloc(1024 * 1024)
  const count = MEDIA_BYTES_MAX / megabyte.length
  async function* many(): AsyncGenerator<Buffer> {
    for (let index = 0; index < count; index++) yield megabyte
    yield Buffer.alloc(1)
  }
  await t.rejects(writeMediaFile(join(directory, 'large'), seal, facts, many()), MediaTooLarge)
  async function* broken(): AsyncGenerator<Buffer> {
    yield megabyte
    throw new Error('the line broke')
  }
  await t.rejects(writeMediaFile(join(directory, 'broken'), seal, facts, broken()), { message: 'the line broke' })
  t.same(await openMediaFile(join(directory, 'broken'), seal), { kind: 'damaged' }, 'without its header')
})

t.test('a body that nobody reads to its end frees its file', { skip: process.platform !== 'linux' }, async t => {
  const path = await written(randomBytes(10 * CHUNK_BYTES))
  const before = readdirSync('/proc/self/fd').length
  const unread = (await opened(path)).body(0, 10)
  const half = (await opened(path)).body(0, 10 * CHUNK_BYTES - 1)
  t.equal(readdirSync('/proc/self/fd').length, before + 2)
  await new Promise(resolve => half.once('data', resolve))
  const closed = [unread, half].map(body => new Promise(resolve => body.once('close', resolve)))
  unread.destroy()
  half.destroy()
  await Promise.all(closed)
  t.equal(readdirSync('/proc/self/fd').length, before)
})
