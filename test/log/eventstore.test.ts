/**
 * The contract of every home of the event log, on EventStoreDB. By default it runs against the double of
 * test/support/eventstore. Against a real server, from 20.10 on:
 *
 *     npm run build
 *     EVENTSTORE_URL='esdb://admin:changeit@localhost:2113?tls=false' \
 *       npx tap --disable-coverage dist/test/log/eventstore.test.js
 *
 * Each run puts a prefix of its own before all of its streams, `contract-<run>-<test>-`, and touches nothing else.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openEventStoreLog } from '../../src/log/eventstore/home.ts'
import { startDouble } from '../support/eventstore/double.ts'
import type { Open } from './contract.ts'
import { contract } from './contract.ts'

const real = process.env.EVENTSTORE_URL
const double = real ? null : await startDouble()
t.teardown(() => double?.close())

const run = randomUUID().slice(0, 8)
let opened = 0

const open: Open = async t => {
  const log = await openEventStoreLog({
    url: real ?? double?.url ?? '',
    streamPrefix: `contract-${run}-${++opened}-`,
    deadlineMs: 20_000,
    budgetMs: 30_000,
    waitMs: 30_000
  })
  t.teardown(() => log.close())
  return log
}

contract(real ? 'EventStoreDB' : 'EventStoreDB, its double', open, {
  keepsArrivalOrder: false,
  tellsPositionsInStreams: false
})
