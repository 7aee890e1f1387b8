/** Following EventStoreDB: system events, other prefixes, lost connections, numbers of streams. */
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import t from 'tap'
import type { EventStoreLog } from '../../src/log/eventstore/home.ts'
import { NO_STREAM } from '../../src/log/port.ts'
import { collector, doubleFor, logOn } from '../support/eventstore/logs.ts'
import { event, temporaryDirectory } from '../support/log.ts'

/** Appends events named `n<from>` to `n<to - 1>` to one stream, in appends of 50, and repeats what was refused. */
async function fill(log: EventStoreLog, stream: string, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 50) {
    const events = Array.from({ length: Math.min(50, to - at) }, (_, index) => event(`${stream}-${at + index}`))
    for (let isDone = false; !isDone; )
      isDone = await log.append(stream, at - 1, events).then(
        ({ kind }) => kind === 'appended',
        () => false
      )
  }
}

const names = (stream: string, count: number) => Array.from({ length: count }, (_, index) => `evt_${stream}-${index}`)

t.test('connections that drop lose no event and repeat none', { timeout: 60_000 }, async t => {
  const double = await doubleFor(t)
  const writer = await logOn(t, double)
  const reader = await logOn(t, double)
  const seen = collector()
  const follower = reader.follow(0, seen.onPage)
  for (let part = 0; part < 4; part++) {
    const filled = fill(writer, 's', part * 1_000, (part + 1) * 1_000)
    await seen.until(part * 1_000 + 200)
    await double.drop()
    await filled
  }
  await double.refuse()
  await double.accept()
  await fill(writer, 's', 4_000, 4_001)
  await seen.until(4_001)
  await follower.close()
  t.same(seen.ids(), names('s', 4_001))
  t.ok(seen.events.every(({ position }, index) => position > (seen.events[index - 1]?.position ?? 0)))
  t.ok(seen.events.every(({ streamNo }) => streamNo === seen.events[0]?.position))
})

t.test('a subscription that the server does not confirm is begun anew', async t => {
  const double = await doubleFor(t)
  const problems: unknown[] = []
  const log = await logOn(t, double, { deadlineMs: 200, onProblem: problem => problems.push(problem) })
  double.faults.next('read', { kind: 'hang' })
  const seen = collector()
  const follower = log.follow(0, seen.onPage)
  await log.append('s', NO_STREAM, [event('s-0')])
  await seen.until(1)
  await follower.close()
  t.match(problems, [{ name: 'CallTimeout' }])
})

t.test('events of the server and of other prefixes are never seen', async t => {
  const double = await doubleFor(t)
  const ours = await logOn(t, double, { streamPrefix: 'one-' })
  const others = await logOn(t, double, { streamPrefix: 'two-' })
  const whole = await logOn(t, double, { streamPrefix: '' })
  const seen = collector()
  const all = collector()
  const followers = [ours.follow(0, seen.onPage), whole.follow(0, all.onPage)]
  await fill(others, 's', 0, 500)
  await fill(ours, 's', 0, 500)
  t.equal(await others.head(), (await positionsOf(others, 500)).at(-1))
  await Promise.all([seen.until(500), all.until(1_000)])
  await Promise.all(followers.map(follower => follower.close()))
  t.same(seen.ids(), names('s', 500))
  t.same(new Set(all.events.map(({ stream }) => stream)), new Set(['one-s', 'two-s']))
  t.ok(
    double.records.log.some(({ stream }) => stream.startsWith('$stats')),
    'the server has events of its own'
  )
})

async function positionsOf(log: EventStoreLog, count: number): Promise<readonly number[]> {
  const seen = collector()
  const follower = log.follow(0, seen.onPage)
  await seen.until(count)
  await follower.close()
  return seen.events.map(({ position }) => position)
}

t.test('a node that starts in the middle gives streams the numbers that every node gives', async t => {
  const double = await doubleFor(t)
  const writer = await logOn(t, double)
  for (const stream of ['a', 'b', 'c']) await writer.append(stream, NO_STREAM, [event(stream), event(`${stream}-2`)])
  const begun = collector()
  const first = writer.follow(0, begun.onPage)
  await begun.until(6)
  await first.close()
  const middle = begun.events[2]?.position ?? 0
  await writer.append('b', 1, [event('b-3')])

  const numbersFile = join(temporaryDirectory(t), 'numbers.db')
  const fresh = await logOn(t, double, { numbersFile })
  t.equal(fresh.numberOf('b'), null, 'it knows no stream yet')
  const rest = collector()
  const second = fresh.follow(middle, rest.onPage)
  await rest.until(4)
  await second.close()
  t.same(rest.ids(), ['evt_b-2', 'evt_c', 'evt_c-2', 'evt_b-3'])
  for (const stream of ['a', 'b', 'c']) t.equal(fresh.numberOf(stream), writer.numberOf(stream))
  t.equal(fresh.numberOf('b'), middle, 'the position of its first event')
})

t.test('an erased stream is passed over, also by a node that did not erase it', async t => {
  const double = await doubleFor(t)
  const one = await logOn(t, double)
  const two = await logOn(t, double)
  const seen = collector()
  const follower = two.follow(0, seen.onPage)
  await one.append('keys', NO_STREAM, [event('key')])
  await seen.until(1)
  t.type(two.numberOf('keys'), 'number')
  await one.erase('keys')
  await one.append('s', NO_STREAM, [event('s')])
  await seen.until(2)
  await follower.close()
  t.same(seen.ids(), ['evt_key', 'evt_s'])
  t.equal(two.numberOf('keys'), null)
  const again = collector()
  const second = two.follow(0, again.onPage)
  await again.until(1)
  await second.close()
  t.same(again.ids(), ['evt_s'])
})

t.test('a slow handler holds the server back', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double)
  await fill(log, 's', 0, 3_000)
  let release = (): void => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  let largest = 0
  const seen = collector()
  const follower = log.follow(0, async page => {
    largest = Math.max(largest, page.length)
    await held
    seen.onPage(page)
  })
  await log.head()
  t.same(seen.ids(), [])
  release()
  await seen.until(3_000)
  await follower.close()
  t.same(seen.ids(), names('s', 3_000))
  t.ok(largest <= 500)
})

t.test('the end of the log is found behind what others write, and only looked for once', async t => {
  const double = await doubleFor(t)
  const patient = { deadlineMs: 20_000, budgetMs: 60_000, waitMs: 60_000 }
  const log = await logOn(t, double, patient)
  const others = await logOn(t, double, { ...patient, streamPrefix: 'other-' })
  t.equal(await log.head(), 0)
  await log.append('s', NO_STREAM, [event('s')])
  const head = await log.head()
  t.equal(head, (await positionsOf(log, 1))[0])
  await fill(others, 'o', 0, 2_000)
  t.equal(await log.head(), head)
  const before = double.calls.read
  t.equal(await log.head(), head)
  t.equal(double.calls.read, before + 1)
})

t.test('an error that passes hides no event', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double)
  const result = await log.append('s', NO_STREAM, [event('s')])
  const position = result.kind === 'appended' ? result.position : 0
  // So a server answers while its cluster has no leader.
  double.faults.next('read', { kind: 'fail', code: status.UNKNOWN }, 2)
  t.match(await log.at(position), { id: 'evt_s' })
  t.equal(await log.at(position + 1), null)
})
