/** Wishes of one person that come in at the same time: the last one stands, whatever the views know by then. */
import t, { type Test } from 'tap'
import type { Core } from '../../src/actors/core.ts'
import { createOptOuts, type OptOuts, type Wish } from '../../src/actors/opt-outs.ts'
import { type EventLog, LogUnavailable } from '../../src/log/port.ts'
import { at, id } from '../support/domain.ts'
import { openKeys } from '../support/keys.ts'
import { all } from '../support/log.ts'

const TENANT = id('tn', 't')
const ADDRESS = '5511912345678'
const STOP: Wish = { out: true, by: 'keyword', toldAt: null }
const START: Wish = { out: false, by: 'keyword', toldAt: null }

async function open(t: Test) {
  const { log, keyring } = openKeys(t)
  await keyring.createTenant(TENANT, at(0))
  let nodes = 0

  /** A node whose views stopped at `isOptedOut`, though they say that they have seen everything. */
  function node(isOptedOut: boolean, ownLog: EventLog = log): OptOuts {
    const core = {
      log: ownLog,
      keyring,
      views: { caughtUp: async () => true, isOptedOut: () => isOptedOut },
      own: { wrote: () => undefined },
      clock: { now: () => Date.parse(at(60)) },
      processId: `node${++nodes}`
    }
    return createOptOuts(core as unknown as Core, { out: ['stop'], in: ['start'] })
  }

  const say = (optOuts: OptOuts, wish: Wish): Promise<void> => optOuts.set(TENANT, [ADDRESS], wish, null)

  /** What is on record, oldest first. */
  async function story(): Promise<readonly string[]> {
    for (let position = 1, head = await log.head(); position <= head; position++) {
      const stream = (await log.at(position))?.stream ?? ''
      if (stream.startsWith('optout-')) return (await all(log.read(stream))).map(({ type }) => type)
    }
    return []
  }

  return { log, node, say, story }
}

/** Others have their say just before each of the node's own appends, so many times. */
function overtaken(log: EventLog, times: number, others: () => Promise<void>): EventLog {
  let left = times
  return {
    ...log,
    async append(...request) {
      if (left-- > 0) await others()
      return log.append(...request)
    }
  }
}

t.test('a wish is judged by what is on record, not by views that lag', async t => {
  const { node, say, story } = await open(t)
  const behind = { in: node(false), out: node(true) }
  await say(behind.out, START)
  t.same(await story(), [], 'nobody had opted out')
  await say(behind.in, STOP)
  await say(behind.out, START)
  await say(behind.out, STOP)
  t.same(await story(), ['ContactOptedOut', 'ContactOptedIn', 'ContactOptedOut'], 'a STOP after an unseen START')
  await say(behind.in, START)
  t.same((await story()).at(-1), 'ContactOptedIn', 'a START after an unseen STOP')
  await say(behind.out, START)
  t.equal((await story()).length, 4, 'what stands is not said twice')
})

t.test('a wish that is overtaken is decided anew; where that has no end, the caller comes again', async t => {
  const { log, node, say, story } = await open(t)
  const other = node(false)
  await say(
    node(
      false,
      overtaken(log, 1, () => say(other, STOP))
    ),
    STOP
  )
  t.same(await story(), ['ContactOptedOut'], 'the same wish of two nodes is one event')
  const both = async (): Promise<void> => {
    await say(other, START)
    await say(other, STOP)
  }
  await say(node(false, overtaken(log, 2, both)), START)
  t.same((await story()).at(-1), 'ContactOptedIn')
  await say(other, STOP)
  await t.rejects(say(node(false, overtaken(log, 99, both)), START), LogUnavailable)
})

t.test('by the platform’s time the last wish stands, however late the others come', async t => {
  const { node, say, story } = await open(t)
  const optOuts = node(true)
  const stop = (second: number): Promise<void> => say(optOuts, { ...STOP, toldAt: at(second) })
  const start = (second: number): Promise<void> => say(optOuts, { ...START, toldAt: at(second) })
  await stop(1)
  await stop(3)
  await stop(3)
  t.same(await story(), ['ContactOptedOut', 'ContactOptedOut'], 'a newer time is recorded, the same one is not')
  await start(2)
  t.equal((await story()).length, 2, 'a START that a later STOP has overtaken')
  await start(4)
  await stop(3)
  t.equal((await story()).at(-1), 'ContactOptedIn', 'a STOP that comes again')
  await stop(4)
  t.equal((await story()).at(-1), 'ContactOptedOut', 'in one second the order in which they come decides')
  await start(5000)
  await stop(60)
  t.equal((await story()).at(-1), 'ContactOptedOut', 'a clock that is ahead binds nobody')
  await say(optOuts, START)
  await say(optOuts, STOP)
  t.equal((await story()).at(-1), 'ContactOptedOut', 'without a time the order in which they come decides')
  await start(59)
  t.equal((await story()).at(-1), 'ContactOptedIn')
})
