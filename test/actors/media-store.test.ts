/** The folder of received media, its lanes and its cut streams. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { createLanes } from '../../src/actors/media-lanes.ts'
import { cutTo } from '../../src/actors/media-range.ts'
import { createMediaStore, type MediaPlace } from '../../src/actors/media-store.ts'
import { derivedId } from '../../src/domain/ids.ts'
import { temporaryDirectory } from '../support/log.ts'

const HOUR = 3_600_000
const key = randomBytes(32)
const CREATED = '2024-05-01T00:00:00.000Z'
const tenantId = derivedId('tn', randomBytes(17))
const somePlace = (contactId = derivedId('ct', randomBytes(17))): MediaPlace => ({
  tenantId,
  contactId,
  messageId: derivedId('msg', randomBytes(17))
})
const bytes = (text: string): Readable => Readable.from([Buffer.from(text)])
const collect = async (body: Readable): Promise<string> => Buffer.concat(await body.toArray()).toString()

async function textOf(store: ReturnType<typeof createMediaStore>, place: MediaPlace): Promise<string> {
  const file = await store.open(place, key)
  return file.kind === 'open' ? collect(file.body(0, file.size - 1)) : file.kind
}

t.test('what is kept can be opened, and goes with its contact', async t => {
  const directory = join(temporaryDirectory(t), 'deep', 'media')
  const store = createMediaStore(directory, HOUR)
  const place = somePlace()
  const neighbour = somePlace()
  t.equal(await store.keep(place, key, 'text/plain', CREATED, bytes('Hello')), 5)
  await store.keep(neighbour, key, 'text/plain', CREATED, bytes('World'))
  await store.want(place)
  t.equal(await textOf(store, place), 'Hello')
  await store.remove(place.tenantId, place.contactId)
  await store.remove(place.tenantId, place.contactId)
  t.equal(await textOf(store, place), 'missing')
  t.notOk(existsSync(join(directory, tenantId, place.contactId)))
  t.equal(await textOf(store, neighbour), 'World')
})

t.test('a body that breaks off leaves nothing behind', async t => {
  const directory = temporaryDirectory(t)
  const store = createMediaStore(directory, HOUR)
  const place = somePlace()
  const broken = Readable.from(
    (async function* () {
      yield Buffer.alloc(200_000)
      throw new Error('the line broke')
    })()
  )
  await t.rejects(store.keep(place, key, 'text/plain', CREATED, broken), { message: 'the line broke' })
  t.same(readdirSync(join(directory, tenantId, place.contactId)), [])
})

t.test('the sweep removes what is past its time, and names what is still wanted', async t => {
  const directory = temporaryDirectory(t)
  const store = createMediaStore(directory, 2 * HOUR)
  const now = Date.now()
  t.same(await createMediaStore(join(directory, 'not yet'), HOUR).sweep(now), [])
  const [old, fresh, wanted, forgotten] = [somePlace(), somePlace(), somePlace(), somePlace()]
  const nameOf = (place: MediaPlace, ending: string): string =>
    join(directory, tenantId, place.contactId, `${place.messageId}.${ending}`)
  const age = (path: string, ms: number): void => utimesSync(path, (now - ms) / 1000, (now - ms) / 1000)
  for (const place of [old, fresh]) await store.keep(place, key, 'text/plain', CREATED, bytes('x'))
  age(nameOf(old, 'media'), 2 * HOUR)
  age(nameOf(fresh, 'media'), 2 * HOUR - 60_000)
  for (const place of [wanted, forgotten]) await store.want(place)
  age(nameOf(forgotten, 'want'), HOUR)
  writeFileSync(nameOf(fresh, '0a0b.part'), 'half')
  age(nameOf(fresh, '0a0b.part'), HOUR)
  mkdirSync(join(directory, 'lost+found'))
  t.same(await store.sweep(now), [wanted])
  t.same(readdirSync(join(directory, tenantId)).sort(), [fresh.contactId, wanted.contactId].sort())
  t.same(readdirSync(join(directory, tenantId, fresh.contactId)), [`${fresh.messageId}.media`])
  t.ok(existsSync(join(directory, 'lost+found')), 'what is not ours stays')
  await store.unwant(wanted)
  t.same(await store.sweep(now), [])
})

t.test('lanes keep their limits, take turns and turn away what is too much', async t => {
  const lanes = createLanes({ perLane: 2, overall: 3, waiting: 4 })
  const ends: (() => void)[] = []
  const started: string[] = []
  const add = (lane: string, name: string): boolean =>
    lanes.add(lane, () => {
      started.push(name)
      return new Promise(resolve => ends.push(resolve))
    })
  for (const name of ['a1', 'a2', 'a3', 'a4']) t.ok(add('a', name))
  t.same(started, ['a1', 'a2'], 'two of a lane')
  t.ok(add('b', 'b1'))
  t.ok(add('b', 'b2'))
  t.same(started, ['a1', 'a2', 'b1'], 'three of all')
  t.ok(add('a', 'a5'))
  t.notOk(add('c', 'c1'), 'four wait')
  const settle = async (): Promise<void> => {
    ends.shift()?.()
    await new Promise(resolve => setImmediate(resolve))
  }
  await settle()
  t.equal(started.at(-1), 'a3')
  await settle()
  t.equal(started.at(-1), 'b2', 'the other lane had to wait for longer')
  const stopped = lanes.stop()
  while (ends.length > 0) await settle()
  await stopped
  t.same(started, ['a1', 'a2', 'b1', 'a3', 'b2'])
  t.notOk(add('a', 'late'))
})

t.test('a cut stream holds exactly its part, and frees its source', async t => {
  const whole = Buffer.from('0123456789abcdefghij')
  const inPieces = (length: number): Readable =>
    Readable.from(
      Array.from({ length: Math.ceil(20 / length) }, (_, n) => whole.subarray(n * length, n * length + length))
    )
  for (const length of [1, 3, 7, 20])
    for (const [first, last] of [
      [0, 0],
      [0, 19],
      [2, 3],
      [6, 13],
      [19, 19]
    ] as const) {
      const source = inPieces(length)
      t.equal(await collect(cutTo(source, { first, last })), whole.toString().slice(first, last + 1))
      t.ok(source.destroyed)
    }
  await t.rejects(collect(cutTo(inPieces(7), { first: 5, last: 20 })), 'a source that is too short')
  const endless = new Readable({
    read() {
      setImmediate(() => this.push(Buffer.alloc(1000)))
    }
  })
  const left = cutTo(endless, { first: 0, last: 1e9 })
  await new Promise(resolve => left.once('data', resolve))
  left.destroy()
  t.ok(endless.destroyed)
  const failing = new Readable({ read: () => undefined })
  const broken = collect(cutTo(failing, { first: 0, last: 9 }))
  failing.destroy(new Error('the line broke'))
  await t.rejects(broken, { message: 'the line broke' })
})
