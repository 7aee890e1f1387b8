/** One writer, two threads that append: each hears of its own, and the revision of a stream decides between them. */
import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { NO_STREAM } from '../../src/log/port.ts'
import { openSqliteLog } from '../../src/log/sqlite/home.ts'
import { all, event, startLogWorker, temporaryDirectory } from '../support/log.ts'

const EACH = 300

async function twoLogs(t: Parameters<typeof temporaryDirectory>[0]) {
  const dataDir = temporaryDirectory(t)
  const [one, other] = [new MessageChannel(), new MessageChannel()]
  const worker = startLogWorker()
  t.teardown(() => worker.terminate())
  const ends = [one.port2, other.port2] as const
  worker.postMessage({ dataDir, port: ends[0], otherPorts: [ends[1]] }, [...ends])
  const main = await openSqliteLog({ dataDir, worker: one.port1 })
  const second = await openSqliteLog({ dataDir, worker: other.port1 })
  t.teardown(() => {
    one.port1.close()
    other.port1.close()
  })
  return { main, second }
}

t.test('answers go to whoever asked, in order, and both read all of it', async t => {
  const { main, second } = await twoLogs(t)
  const append = (log: typeof main, who: string, isBulk: boolean) =>
    Array.from({ length: EACH }, (_, index) =>
      log.append(`${who}-${index}`, NO_STREAM, [event(`${who}${index}`)], { isBulk })
    )
  const [mine, theirs] = await Promise.all([
    Promise.all(append(main, 'one', false)),
    Promise.all(append(second, 'other', true))
  ])
  const positionsOf = (answers: typeof mine) => answers.map(one => (one.kind === 'appended' ? one.position : 0))
  for (const [log, who, answers] of [
    [second, 'one', mine],
    [main, 'other', theirs]
  ] as const) {
    const positions = positionsOf(answers)
    t.strictSame(
      positions,
      positions.toSorted((a, b) => a - b)
    )
    for (const [index, position] of positions.entries())
      t.equal((await log.at(position))?.stream, `${who}-${index}`, 'the answer names the event that was appended')
  }
  t.equal(await main.head(), 2 * EACH)
  t.equal(await second.head(), 2 * EACH)
  await second.close()
  await main.close()
})

t.test('a stream that both begin has one beginning', async t => {
  const { main, second } = await twoLogs(t)
  const streams = Array.from({ length: EACH }, (_, index) => `message-${index}`)
  const pairs = await Promise.all(
    streams.map((stream, index) =>
      Promise.all([
        main.append(stream, NO_STREAM, [event(`a${index}`)]),
        second.append(stream, NO_STREAM, [event(`b${index}`)], { isBulk: true })
      ])
    )
  )
  for (const [index, pair] of pairs.entries()) {
    t.strictSame(pair.map(({ kind }) => kind).sort(), ['appended', 'conflict'])
    t.equal((await all(second.read(streams[index] ?? ''))).length, 1)
  }
  await second.close()
  await main.close()
})

t.test('one that has closed its end leaves the log to the other', async t => {
  const { main, second } = await twoLogs(t)
  await second.append('message-1', NO_STREAM, [event('first')])
  await second.close()
  await t.rejects(second.append('message-2', NO_STREAM, [event('late')]), { name: 'LogUnavailable' })
  t.match(await main.append('message-2', NO_STREAM, [event('second')]), { kind: 'appended' })
  t.equal((await all(main.read('message-1'))).length, 1)
  await main.close()
})

t.test('a follower hears of what the other thread appends', async t => {
  const { main, second } = await twoLogs(t)
  const heard = new Promise<string | undefined>(resolve => {
    main.follow(0, page => resolve(page.at(-1)?.id))
  })
  await second.append('message-1', NO_STREAM, [event('news')])
  t.equal(await heard, 'evt_news')
  await second.close()
  await main.close()
})
