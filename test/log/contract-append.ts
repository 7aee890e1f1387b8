import fc from 'fast-check'
import type { Test } from 'tap'
import { chainHash, NO_HASH } from '../../src/log/hash-chain.ts'
import type { Appended, AppendResult, EventLog } from '../../src/log/port.ts'
import { MAX_EVENT_BYTES, NO_STREAM } from '../../src/log/port.ts'
import { all, event } from '../support/log.ts'
import type { Open, Traits } from './contract.ts'
import { followed } from './contract-support.ts'

export function contractOfAppending(t: Test, open: Open, traits: Traits): void {
  t.test('the first events of a stream start at revision 0', async t => {
    const log = await open(t)
    const result = await log.append('s-1', NO_STREAM, [event('a'), event('b')])
    t.match(result, { kind: 'appended', revision: 1, repeated: false })
    const events = await all(log.read('s-1'))
    t.same(
      events.map(({ revision, id }) => [revision, id]),
      [
        [0, 'evt_a'],
        [1, 'evt_b']
      ]
    )
    const { position } = appended(result)
    t.equal((await followed(log, 2))[1]?.position, position, 'the position is that of the last event')
    t.equal(events[1]?.position, traits.tellsPositionsInStreams ? position : 0)
  })

  t.test('what is read is what was appended, byte for byte', async t => {
    const log = await open(t)
    const odd = event('odd', 'é\u2028"\\ 漢字 👩‍👧 \u0000 \n')
    await log.append('s-1', NO_STREAM, [odd])
    const [stored] = await all(log.read('s-1'))
    t.match(stored, { ...odd, stream: 's-1', streamNo: log.numberOf('s-1') })
  })

  t.test('settled when all appends that were handed over are over', async t => {
    const log = await open(t)
    await log.settled()
    const over: string[] = []
    for (const [index, stream] of ['s-1', 's-2', 's-1', 's-3'].entries())
      void log
        .append(stream, NO_STREAM, [event(`e${index}`)], { isBulk: index % 2 === 0 })
        .then(({ kind }) => over.push(kind))
    await log.settled()
    t.same(over.toSorted(), ['appended', 'appended', 'appended', 'conflict'])
  })

  t.test('a wrong expected revision is a conflict that tells the newest one and writes nothing', async t => {
    const log = await open(t)
    t.same(await log.append('s-1', 0, [event('a')]), { kind: 'conflict', revision: -1 })
    await log.append('s-1', NO_STREAM, [event('a'), event('b')])
    for (const wrong of [NO_STREAM, 0, 2, 7])
      t.same(await log.append('s-1', wrong, [event(`c${wrong}`)]), { kind: 'conflict', revision: 1 })
    t.equal((await all(log.read('s-1'))).length, 2)
  })

  t.test('the same append repeated answers with the first position and writes nothing', async t => {
    const log = await open(t)
    const first = appended(await log.append('s-1', NO_STREAM, [event('a'), event('b')]))
    const second = appended(await log.append('s-1', 1, [event('c')]))
    await log.append('s-1', 2, [event('d')])
    t.same(await log.append('s-1', NO_STREAM, [event('a'), event('b')]), { ...first, repeated: true })
    t.same(await log.append('s-1', 1, [event('c')]), { ...second, repeated: true })
    t.same(await log.append('s-1', 0, [event('b')]), { ...first, repeated: true }, 'a part of an append is known too')
    t.match(await log.append('s-1', 2, [event('d'), event('e')]), { kind: 'conflict', revision: 3 })
    t.match(await log.append('s-1', 0, [event('c')]), { kind: 'conflict' }, 'known ids elsewhere are no repetition')
    t.equal((await all(log.read('s-1'))).length, 4)
  })

  t.test('a repeated id with another content is invalid', async t => {
    const log = await open(t)
    await log.append('s-1', NO_STREAM, [event('a')])
    t.match(await log.append('s-1', NO_STREAM, [event('a', 'other')]), { kind: 'invalid' })
    t.match(await log.append('s-1', NO_STREAM, [{ ...event('a'), meta: '{}' }]), { kind: 'invalid' })
    t.match(await log.append('s-1', 0, [event('b'), event('b')]), { kind: 'invalid' })
  })

  t.test('an append that is wrong in itself is invalid', async t => {
    const log = await open(t)
    const room = MAX_EVENT_BYTES - event('big', '').body.length - event('big', '').meta.length
    t.match(await log.append('s-1', NO_STREAM, []), { kind: 'invalid' })
    t.match(await log.append('', NO_STREAM, [event('a')]), { kind: 'invalid' })
    t.match(await log.append('s-1', -2, [event('a')]), { kind: 'invalid' })
    t.match(await log.append('s-1', NO_STREAM, [event('big', 'x'.repeat(room + 1))]), { kind: 'invalid' })
    t.match(await log.append('s-1', NO_STREAM, [event('big', 'é'.repeat(room / 2 + 1))]), { kind: 'invalid' })
    t.match(await log.append('s-1', NO_STREAM, [event('big', 'x'.repeat(room))]), { kind: 'appended' })
  })

  t.test('a bad append does not touch those that arrive with it', async t => {
    const log = await open(t)
    await log.append('s-old', NO_STREAM, [event('old')])
    const results = await Promise.all([
      log.append('s-1', NO_STREAM, [event('a')]),
      log.append('s-1', NO_STREAM, [event('late')]),
      log.append('s-2', NO_STREAM, [event('b'), event('big', 'x'.repeat(MAX_EVENT_BYTES))]),
      log.append('s-old', NO_STREAM, [event('old', 'other')]),
      log.append('s-3', NO_STREAM, []),
      log.append('s-1', 0, [event('c'), event('d')]),
      log.append('s-1', 2, [event('e')])
    ])
    t.same(
      results.map(({ kind }) => kind),
      ['appended', 'conflict', 'invalid', 'invalid', 'invalid', 'appended', 'appended']
    )
    t.same(await ids(log, 's-1'), ['evt_a', 'evt_c', 'evt_d', 'evt_e'])
    t.same([await ids(log, 's-2'), await ids(log, 's-3')], [[], []])
  })

  t.test('an append that needs another is written after it or not at all', async t => {
    const log = await open(t)
    if (!traits.keepsArrivalOrder) {
      t.equal(log.ordered, undefined)
      const need = { stream: 'key-1', eventId: 'evt_k', isBulk: false }
      await t.rejects(log.append('s-1', NO_STREAM, [event('a')], { need }), /no order/)
      return
    }
    const after = (stream: string, key: string, eventId: string) =>
      log.append(stream, NO_STREAM, [event(stream)], { need: { stream: key, eventId, isBulk: false } })
    t.equal(log.ordered?.standing('key-1'), 'none')
    const results = await Promise.allSettled([
      log.append('key-1', NO_STREAM, [event('k')]),
      after('s-1', 'key-1', 'evt_k'),
      after('s-2', 'key-1', 'evt_other'),
      after('s-3', 'key-2', 'evt_k'),
      log.append('key-2', 5, [event('k')]),
      after('s-4', 'key-2', 'evt_k')
    ])
    t.same(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'rejected', 'fulfilled', 'rejected']
    )
    t.equal(log.ordered?.standing('key-1'), 'live')
    await log.erase('key-1')
    t.equal(log.ordered?.standing('key-1'), 'erased')
    await t.rejects(after('s-5', 'key-1', 'evt_k'), /was not written/)
    for (const stream of ['s-2', 's-3', 's-4', 's-5']) t.same(await ids(log, stream), [])
    t.same(await ids(log, 's-1'), ['evt_s-1'])
  })

  t.test('what one request waits for goes before what a batch waits for, whose order stays', async t => {
    const log = await open(t)
    const append = (stream: string, isBulk: boolean) => log.append(stream, NO_STREAM, [event(stream)], { isBulk })
    const many = Array.from({ length: 700 }, (_, index) => append(`many-${index}`, true))
    const one = append('one', false)
    const positions = (await Promise.all(many)).map(result => appended(result).position)
    const { position: single } = appended(await one)
    const overtaken = positions.filter(position => position > single)
    t.ok(overtaken.length > 300, `${overtaken.length} of 700 were overtaken`)
    if (traits.keepsArrivalOrder) t.ok(isAscending(positions))
  })

  t.test('an append waits among those of batches when what it needs does', async t => {
    const log = await open(t)
    if (!traits.keepsArrivalOrder) return t.pass('this log keeps no order among appends')
    const many = Array.from({ length: 300 }, (_, index) =>
      log.append(`many-${index}`, NO_STREAM, [event(`${index}`)], { isBulk: true })
    )
    const key = log.append('key-1', NO_STREAM, [event('k')], { isBulk: true })
    const need = { stream: 'key-1', eventId: 'evt_k', isBulk: true }
    const after = await log.append('s-1', NO_STREAM, [event('a')], { need })
    await Promise.all(many)
    t.ok(appended(after).position > appended(await key).position)
  })

  t.test('what a batch appends never goes before a single append that it needs, however many there are', async t => {
    const log = await open(t)
    if (!traits.keepsArrivalOrder) return t.pass('this log keeps no order among appends')
    const one = (stream: string) => log.append(stream, NO_STREAM, [event(stream)])
    const singles = Array.from({ length: 300 }, (_, index) => one(`one-${index}`))
    const need = { stream: 'one-299', eventId: 'evt_one-299', isBulk: false }
    const many = Array.from({ length: 40 }, (_, index) =>
      log.append(`many-${index}`, NO_STREAM, [event(`many-${index}`)], { isBulk: true, need })
    )
    const last = appended((await Promise.all(singles)).at(-1) ?? { kind: 'deleted' })
    for (const result of await Promise.all(many)) t.ok(appended(result).position > last.position)
  })

  t.test('batches go on beside more single appends than a commit takes', async t => {
    const log = await open(t)
    const append = (stream: string, isBulk: boolean) => log.append(stream, NO_STREAM, [event(stream)], { isBulk })
    const singles = Array.from({ length: 1_000 }, (_, index) => append(`one-${index}`, false))
    const bulk = append('many', true)
    const positions = (await Promise.all(singles)).map(result => appended(result).position)
    t.ok(appended(await bulk).position < Math.max(...positions))
  })

  t.test('appends of one caller keep their order, also across commits', async t => {
    const log = await open(t)
    const results = await Promise.all(
      Array.from({ length: 700 }, (_, index) =>
        log.append(`s-${index % 7}`, Math.floor(index / 7) - 1, [event(`${index}`)])
      )
    )
    const positions = results.map(result => appended(result).position)
    const rows = traits.keepsArrivalOrder ? [positions] : [0, 1, 2, 3, 4, 5, 6].map(row => everySeventh(positions, row))
    for (const row of rows) t.ok(isAscending(row))
    t.equal(new Set(positions).size, 700)
    t.equal(await log.head(), Math.max(...positions))
  })

  t.test('two writers on one stream: revisions have no gap, the chain never breaks', async t => {
    const log = await open(t)
    let run = 0
    const step = fc.record({
      writer: fc.integer({ min: 0, max: 1 }),
      behind: fc.integer({ min: 0, max: 2 }),
      size: fc.integer({ min: 1, max: 3 })
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { maxLength: 6 }), async turns => {
        const stream = `s-race-${run++}`
        let newest = NO_STREAM
        let count = 0
        for (const [turn, steps] of turns.entries()) {
          const results = await Promise.all(
            steps.map(({ writer, behind, size }, index) =>
              log.append(
                stream,
                Math.max(newest - behind, NO_STREAM),
                eventsOf(`${stream}-${turn}-${index}-${writer}`, size)
              )
            )
          )
          count += steps.reduce((sum, { size }, index) => (results[index]?.kind === 'appended' ? sum + size : sum), 0)
          newest = count - 1
        }
        await holds(log, stream, count)
      }),
      { numRuns: 30 }
    )
    t.pass('it held for every interleaving')
  })
}

const eventsOf = (name: string, size: number) => Array.from({ length: size }, (_, index) => event(`${name}-${index}`))

const everySeventh = (list: readonly number[], from: number) => list.filter((_, index) => index % 7 === from)

const isAscending = (list: readonly number[]) => list.every((one, index) => index === 0 || one > (list[index - 1] ?? 0))

const ids = async (log: EventLog, stream: string) => (await all(log.read(stream))).map(({ id }) => id)

function appended(result: AppendResult): Appended {
  if (result.kind === 'appended') return result
  throw new Error(`expected an append, got ${result.kind}`)
}

async function holds(log: EventLog, stream: string, count: number): Promise<void> {
  const events = await all(log.read(stream))
  if (events.length !== count) throw new Error(`${count} events were acknowledged, ${events.length} stand there`)
  let previous = NO_HASH
  for (const [index, recorded] of events.entries()) {
    if (recorded.revision !== index) throw new Error(`revision ${recorded.revision} stands at ${index}`)
    if (recorded.hash !== chainHash(previous, stream, index, recorded)) throw new Error(`the chain breaks at ${index}`)
    previous = recorded.hash
  }
}
