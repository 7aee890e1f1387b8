import type { Test } from 'tap'
import type { EventLog } from '../../src/log/port.ts'
import { NO_STREAM } from '../../src/log/port.ts'
import { all, event } from '../support/log.ts'
import type { Open } from './contract.ts'
import { followed } from './contract-support.ts'

export function contractOfReading(t: Test, open: Open): void {
  t.test('a stream is read forwards and backwards, from a revision, up to a limit', async t => {
    const log = await open(t)
    await append(log, 's-1', 10)
    t.same(await revisions(log, {}), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    t.same(await revisions(log, { from: 7 }), [7, 8, 9])
    t.same(await revisions(log, { from: 3, limit: 2 }), [3, 4])
    t.same(await revisions(log, { from: 10 }), [])
    t.same(await revisions(log, { limit: 0 }), [])
    t.same(await revisions(log, { direction: 'backwards' }), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    t.same(await revisions(log, { direction: 'backwards', limit: 1 }), [9])
    t.same(await revisions(log, { direction: 'backwards', from: 2, limit: 5 }), [2, 1, 0])
  })

  t.test('a stream of several pages is read whole', async t => {
    const log = await open(t)
    for (let expected = NO_STREAM; expected < 1_199; expected += 200)
      await log.append(
        's-1',
        expected,
        Array.from({ length: 200 }, (_, index) => event(`${expected}-${index}`))
      )
    const whole = Array.from({ length: 1_200 }, (_, index) => index)
    t.same(await revisions(log, {}), whole)
    t.same(await revisions(log, { direction: 'backwards' }), whole.toReversed())
    t.same((await revisions(log, { limit: 1_001 })).at(-1), 1_000)
  })

  t.test('a reader may stop early', async t => {
    const log = await open(t)
    await append(log, 's-1', 3)
    for await (const first of log.read('s-1')) {
      t.equal(first.revision, 0)
      break
    }
    t.match(await log.append('s-1', 2, [event('next')]), { kind: 'appended' })
  })

  t.test('a stream that does not exist has no events and no number', async t => {
    const log = await open(t)
    await append(log, 's-1', 1)
    t.same(await all(log.read('s-2')), [])
    t.same(await all(log.read('s-2', { direction: 'backwards' })), [])
    t.equal(log.numberOf('s-2'), null)
  })

  t.test('streams have numbers of their own', async t => {
    const log = await open(t)
    await append(log, 's-1', 1)
    await append(log, 's-2', 1)
    const [one] = await all(log.read('s-1'))
    const [two] = await all(log.read('s-2'))
    t.equal(log.numberOf('s-1'), one?.streamNo)
    t.equal(log.numberOf('s-2'), two?.streamNo)
    t.not(one?.streamNo, two?.streamNo)
  })

  t.test('an event is found by its position', async t => {
    const log = await open(t)
    await append(log, 's-1', 2)
    const [, second] = await followed(log, 2)
    if (!second) throw new Error('two events were appended')
    t.same(await log.at(second.position), second)
    t.equal(await log.at(second.position + 1), null)
    t.equal(await log.at(0), null)
    t.equal(await log.head(), second.position)
  })
}

const append = (log: EventLog, stream: string, size: number) =>
  log.append(
    stream,
    NO_STREAM,
    Array.from({ length: size }, (_, index) => event(`${stream}-${index}`))
  )

const revisions = async (log: EventLog, options: Parameters<EventLog['read']>[1]) =>
  (await all(log.read('s-1', options))).map(({ revision }) => revision)
