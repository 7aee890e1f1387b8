/** Verification and export of the log on EventStoreDB. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openEventStoreVerifySource } from '../../src/log/eventstore/verify-source.ts'
import { exportLines } from '../../src/log/export.ts'
import { NO_STREAM } from '../../src/log/port.ts'
import { verifyLog } from '../../src/log/verify.ts'
import type { Double } from '../support/eventstore/double.ts'
import { doubleFor, logOn } from '../support/eventstore/logs.ts'
import { event } from '../support/log.ts'

function sourceOf(t: { teardown(run: () => unknown): unknown }, double: Double) {
  const source = openEventStoreVerifySource({ url: double.url, streamPrefix: 'test-' })
  t.teardown(source.close)
  return source
}

t.test('an intact log of several pages verifies, whole and by stream', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double)
  for (let index = 0; index < 6; index++)
    await log.append(
      `s-${index}`,
      NO_STREAM,
      Array.from({ length: 200 }, (_, at) => event(`${index}-${at}`))
    )
  t.match(await verifyLog(sourceOf(t, double)), { ok: true, events: 1_200, streams: 6 })
  t.match(await verifyLog(sourceOf(t, double), { stream: 's-3' }), { ok: true, events: 200 })
})

t.test('an event that was changed, and one that somebody else added, are named', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double)
  await log.append('s-1', NO_STREAM, [event('a'), event('b')])
  await log.append('s-2', NO_STREAM, [event('c')])
  const stored = double.records.log.find(({ stream }) => stream === 'test-s-2')
  stored?.data.set(Buffer.from('{"v":2'))
  const foreign = { id: randomUUID(), type: 'Foreign', contentType: 'application/json', data: Buffer.from('{}') }
  double.records.append('test-s-1', 1, [{ ...foreign, metadata: new Uint8Array() }])
  const { ok, faults } = await verifyLog(sourceOf(t, double))
  t.notOk(ok)
  t.same(
    faults.map(fault => [fault.kind, fault.stream, fault.revision]),
    [
      ['altered', 's-2', 0],
      ['altered', 's-1', 2]
    ]
  )
})

t.test('an export has the events in log order, without the prefix and without keys', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double)
  await log.append('s-1', NO_STREAM, [event('a')])
  await log.append('keys-1', NO_STREAM, [event('key')])
  const lines: unknown[] = []
  for await (const line of exportLines(sourceOf(t, double), { format: 'ndjson' })) lines.push(JSON.parse(line))
  t.match(lines, [{ stream: 's-1', id: 'evt_a', streamNo: Number, revision: 0 }])
  t.equal(lines.length, 1, 'no anchor covers key streams, so an export does not show them either')
})
