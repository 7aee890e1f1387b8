/** What a log on EventStoreDB says of the events that it holds: known to whoever opens it, before any of them is read. */
import t from 'tap'
import { openEventStoreLog } from '../../src/log/eventstore/home.ts'
import { NO_STREAM } from '../../src/log/port.ts'
import { doubleFor } from '../support/eventstore/logs.ts'
import { event } from '../support/log.ts'

const of = (type: string, version: number) => ({
  ...event(`${type}${version}`),
  type,
  body: `{"v":${version},"data":{}}`
})

t.test('types and versions are noted with their first events, by several nodes at once', async t => {
  const double = await doubleFor(t)
  const open = async () => {
    const log = await openEventStoreLog({ url: double.url })
    t.teardown(() => log.close())
    return log
  }
  const [one, two] = await Promise.all([open(), open()])
  t.same(one.versions, [], 'a new log holds nothing')
  await Promise.all([
    one.append('s-1', NO_STREAM, [of('Alpha', 1), of('Beta', 2)]),
    one.append('s-2', NO_STREAM, [of('Alpha', 2)]),
    two.append('s-3', NO_STREAM, [of('Gamma', 1)]),
    two.append('s-4', NO_STREAM, [of('Alpha', 1)])
  ])
  const sorted = (await open()).versions.map(({ type, version }) => `${type} ${version}`).sort()
  t.same(sorted, ['Alpha 1', 'Alpha 2', 'Beta 2', 'Gamma 1'])
  const before = double.calls.append
  await one.append('s-5', NO_STREAM, [of('Alpha', 2)])
  t.equal(double.calls.append, before + 1, 'what is noted costs nothing more')
})

t.test('an event is not written before its version is noted', async t => {
  const double = await doubleFor(t)
  const log = await openEventStoreLog({ url: double.url, deadlineMs: 100, budgetMs: 200 })
  t.teardown(() => log.close())
  double.faults.next('append', { kind: 'hang' }, 20)
  await t.rejects(log.append('s-1', NO_STREAM, [of('Alpha', 1)]), { name: 'LogUnavailable' })
  t.notOk(double.records.log.some(({ stream }) => stream === 's-1'))
})
