/** Appends to EventStoreDB when calls fail, hang, or lose their answers. */
import { status } from '@grpc/grpc-js'
import t from 'tap'
import type { AppendResult } from '../../src/log/port.ts'
import { NO_STREAM } from '../../src/log/port.ts'
import type { Fault } from '../support/eventstore/faults.ts'
import { breakOf, doubleFor, logOn } from '../support/eventstore/logs.ts'
import { all, event } from '../support/log.ts'

const quick = { deadlineMs: 150, budgetMs: 3_000 }

const unknownOutcomes: readonly (readonly [string, Fault])[] = [
  ['the answer is lost', { kind: 'lose' }],
  ['the connections drop before the answer', { kind: 'drop' }],
  ['the answer is an error', { kind: 'fail', code: status.UNAVAILABLE, afterwards: true }],
  ['the server times out', { kind: 'fail', code: status.ABORTED, afterwards: true }],
  ['the call hangs', { kind: 'hang' }],
  ['the call hangs, and is done late', { kind: 'late', delayMs: 250 }],
  ['the server is unavailable', { kind: 'fail', code: status.UNAVAILABLE }],
  ['the server cancels', { kind: 'fail', code: status.CANCELLED }]
]

for (const [name, fault] of unknownOutcomes)
  t.test(`when ${name}, an append is written once and succeeds`, async t => {
    const double = await doubleFor(t)
    const log = await logOn(t, double, quick)
    for (const [index, expected] of [NO_STREAM, 1, 3].entries()) {
      double.faults.next('append', fault)
      const events = [event(`${index}-a`), event(`${index}-b`)]
      t.match(await log.append('s-1', expected, events), { kind: 'appended', revision: expected + 2 })
    }
    // What is done late has been done when a later append to the stream is answered as a conflict or a success.
    t.match(await log.append('s-1', 5, [event('last')]), { kind: 'appended', revision: 6 })
    t.equal((await all(log.read('s-1'))).length, 7)
    t.equal(await breakOf(log, 's-1'), null)
  })

t.test('an append whose outcome is unknown is looked for before it is sent again', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double, quick)
  double.faults.next('append', { kind: 'fail', code: status.UNAVAILABLE })
  const before = double.calls.read
  await log.append('s-1', NO_STREAM, [event('a')])
  t.equal(double.calls.read, before + 1)
  t.equal(double.calls.append, 3, 'the id of the log, the one that failed, and the one that was sent again')
})

t.test('when another node has written meanwhile, the unknown append is a conflict', async t => {
  const double = await doubleFor(t)
  const [one, two] = [await logOn(t, double, quick), await logOn(t, double, quick)]
  await one.append('s-1', NO_STREAM, [event('a')])
  double.faults.next('append', { kind: 'late', delayMs: 300 })
  const late = one.append('s-1', 0, [event('mine')])
  t.match(await two.append('s-1', 0, [event('theirs')]), { kind: 'appended' })
  t.same(await late, { kind: 'conflict', revision: 1 })
  t.match(await one.append('s-1', 1, [event('b')]), { kind: 'appended', revision: 2 })
  t.equal(await breakOf(one, 's-1'), null)
})

t.test('a leader that has changed is asked again', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double, quick)
  double.faults.next('append', { kind: 'not-leader', host: '127.0.0.1', port: double.port }, 2)
  t.match(await log.append('s-1', NO_STREAM, [event('a')]), { kind: 'appended' })
  t.equal((await all(log.read('s-1'))).length, 1)
})

t.test('a server that does not answer makes an append fail in its time, and the stream goes on afterwards', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double, { deadlineMs: 100, budgetMs: 400 })
  await log.append('s-1', NO_STREAM, [event('a')])
  double.faults.next('append', { kind: 'hang' }, 20)
  const began = performance.now()
  await t.rejects(log.append('s-1', 0, [event('b')]), { name: 'LogUnavailable' })
  t.ok(performance.now() - began < 2_000)
  while (double.faults.take('append'));
  t.match(await log.append('s-1', 0, [event('c')]), { kind: 'appended', revision: 1 })
  t.equal(await breakOf(log, 's-1'), null)
})

t.test('while the server refuses connections appends are refused, and succeed when it is back', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double, { deadlineMs: 300, budgetMs: 300 })
  await double.refuse()
  await t.rejects(log.append('s-1', NO_STREAM, [event('a')]), { name: 'LogUnavailable' })
  await t.rejects(log.head(), { name: 'LogUnavailable' })
  await t.rejects(all(log.read('s-1')), { name: 'LogUnavailable' })
  await double.accept()
  let result: AppendResult | null = null
  for (let attempt = 0; result === null && attempt < 50; attempt++)
    result = await log.append('s-1', NO_STREAM, [event('a')]).catch(() => null)
  t.match(result, { kind: 'appended', revision: 0 })
})

t.test('credentials that are withdrawn refuse appends at once', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double)
  double.faults.isDenying = true
  await t.rejects(log.append('s-1', NO_STREAM, [event('a')]), {
    name: 'LogUnavailable',
    message: 'EventStoreDB refuses our credentials'
  })
})

t.test('two nodes, 200 appends on one stream: every revision once, and the chain is whole', async t => {
  const double = await doubleFor(t)
  // What is asked is order, not speed: a busy machine may take its time.
  const patient = { deadlineMs: 20_000, budgetMs: 60_000, waitMs: 60_000 }
  const nodes = [await logOn(t, double, patient), await logOn(t, double, patient)]
  const write = async (index: number): Promise<void> => {
    const log = nodes[index % 2]
    for (let expected = NO_STREAM; log; ) {
      const result = await log.append('s-1', expected, [event(`${index}`)])
      if (result.kind === 'appended') return
      if (result.kind !== 'conflict') throw new Error(result.kind)
      expected = result.revision
    }
  }
  // Each node has two deciders at a time on the stream; each goes on until it has won its revision.
  const decide = async (first: number): Promise<void> => {
    for (let index = first; index < 200; index += 4) await write(index)
  }
  await Promise.all([0, 1, 2, 3].map(decide))
  const events = nodes[0] ? await all(nodes[0].read('s-1')) : []
  t.equal(new Set(events.map(({ id }) => id)).size, 200)
  t.equal(events.length, 200)
  t.equal(nodes[0] && (await breakOf(nodes[0], 's-1')), null)
})

t.test('at most 64 appends are under way, a bounded number waits, and one more is refused', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double, { deadlineMs: 5_000, maxWaiting: 100 })
  const before = double.calls.append
  double.faults.next('append', { kind: 'late', delayMs: 0 }, 64)
  const sent = Array.from({ length: 164 }, (_, index) => log.append(`s-${index}`, NO_STREAM, [event(`${index}`)]))
  const refused = log.append('s-more', NO_STREAM, [event('more')])
  await t.rejects(refused, { name: 'LogUnavailable', message: 'too many appends wait for EventStoreDB' })
  while (double.calls.append < before + 64) await new Promise(setImmediate)
  t.equal(double.calls.append, before + 64)
  await double.drop()
  const results = await Promise.all(sent)
  t.ok(results.every(({ kind }) => kind === 'appended'))
})

t.test('an append that has waited too long for its turn is refused and never written', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double, { deadlineMs: 500, budgetMs: 3_000, waitMs: 100 })
  double.faults.next('append', { kind: 'hang' })
  const first = log.append('s-1', NO_STREAM, [event('a')])
  await t.rejects(log.append('s-1', 0, [event('b')]), { name: 'LogUnavailable' })
  t.match(await first, { kind: 'appended' })
  t.match(await log.append('s-1', 0, [event('c')]), { kind: 'appended' })
  t.same(
    (await all(log.read('s-1'))).map(({ id }) => id),
    ['evt_a', 'evt_c']
  )
})

t.test('an append larger than the server takes is invalid', async t => {
  const log = await logOn(t, await doubleFor(t))
  const big = Array.from({ length: 5 }, (_, index) => event(`${index}`, 'x'.repeat(250_000)))
  t.match(await log.append('s-1', NO_STREAM, big), { kind: 'invalid' })
  t.same(await all(log.read('s-1')), [])
})

t.test('the batch path of the client is never taken, also where the server offers it', async t => {
  const double = await doubleFor(t, { offersBatchAppend: true })
  const log = await logOn(t, double)
  t.match(await log.append('s-1', NO_STREAM, [event('a')]), { kind: 'appended' })
  t.equal(double.calls.batchAppend, 0)
})

t.test('text that JSON would write otherwise comes back as it was', async t => {
  const log = await logOn(t, await doubleFor(t))
  const odd = { ...event('odd'), body: '{ "b": 1.0, "1": "é" }', meta: '{"id":"x", "hash":1}' }
  const list = { ...event('list'), body: '[1,2]', meta: '"m"' }
  await log.append('s-1', NO_STREAM, [odd, list])
  t.match(await all(log.read('s-1')), [odd, list])
  t.equal(await breakOf(log, 's-1'), null)
})

t.test('trace and cause stand in the server’s own metadata, and the event id comes from the chained hash', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double)
  const meta = { tenant: null, trace: 'tr-1', cause: 'evt_0', source: 'test', at: '2024-05-01T00:00:00.000Z' }
  await log.append('s-1', NO_STREAM, [{ ...event('a'), meta: JSON.stringify(meta) }])
  const [recorded] = await all(log.read('s-1'))
  const stored = double.records.log.find(({ stream }) => stream === 'test-s-1')
  const metadata: unknown = JSON.parse(Buffer.from(stored?.metadata ?? []).toString())
  t.same(metadata, { ...meta, id: 'evt_a', hash: recorded?.hash, $correlationId: 'tr-1', $causationId: 'evt_0' })
  t.equal(stored?.contentType, 'application/json')
  t.match(stored?.id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.equal(stored?.id.slice(0, 8), recorded?.hash.slice(0, 8))
})
