import type { Test } from 'tap'
import type { EventLog, RecordedEvent } from '../../src/log/port.ts'
import { NO_STREAM } from '../../src/log/port.ts'
import { event } from '../support/log.ts'
import type { Open } from './contract.ts'
import { followed } from './contract-support.ts'

export function contractOfFollowing(t: Test, open: Open): void {
  t.test('a follower catches up and goes on live, in order, without a gap or a repetition', async t => {
    const log = await open(t)
    await append(log, 0, 700)
    const seen = collector(1_000)
    const follower = log.follow(0, seen.onPage)
    await append(log, 700, 1_000)
    await seen.complete
    await follower.close()
    t.same(seen.ids, names(0, 1_000))
    t.ok(seen.pages.every(page => page.length > 0))
  })

  t.test('a follower hears of an append that comes while it waits', async t => {
    const log = await open(t)
    const first = collector(1)
    const both = collector(2)
    const followers = [log.follow(await log.head(), first.onPage), log.follow(await log.head(), both.onPage)]
    await append(log, 0, 1)
    await first.complete
    await append(log, 1, 2)
    await both.complete
    await Promise.all(followers.map(follower => follower.close()))
    t.same(both.ids, names(0, 2))
  })

  t.test('a follower resumes after a position', async t => {
    const log = await open(t)
    await append(log, 0, 10)
    const [, , third] = await followed(log, 3)
    const seen = collector(7)
    const follower = log.follow(third?.position ?? 0, seen.onPage)
    await seen.complete
    await follower.close()
    t.same(seen.ids, names(0, 10).slice(-7))
  })

  t.test('the next page waits for a slow handler, and a closed follower gets none', async t => {
    const log = await open(t)
    await append(log, 0, 600)
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    let running = 0
    let calls = 0
    const started = collector(1)
    const follower = log.follow(0, async page => {
      running++
      calls++
      t.equal(running, 1)
      started.onPage(page)
      await held
      running--
    })
    await started.complete
    await append(log, 600, 700)
    const closed = follower.close()
    release()
    await closed
    t.equal(running, 0)
    t.equal(calls, 1)
  })

  t.test('a page whose handler failed is given again', { timeout: 10_000 }, async t => {
    const log = await open(t)
    await append(log, 0, 3)
    const seen = collector(3)
    let failed = false
    const follower = log.follow(0, page => {
      if (failed) return seen.onPage(page)
      failed = true
      throw new Error('the view is busy')
    })
    await seen.complete
    await follower.close()
    t.same(seen.ids, names(0, 3))
  })

  t.test('a closed log takes no appends, and closing ends its followers', async t => {
    const log = await open(t)
    const pending = log.append('s-1', NO_STREAM, [event('a')])
    log.follow(0, () => {})
    await Promise.all([log.close(), log.close()])
    t.match(await pending, { kind: 'appended' }, 'what was handed over before is written')
    await t.rejects(log.append('s-1', 0, [event('b')]), { name: 'LogUnavailable' })
  })
}

/** Event `index` goes to one of three streams, the first three to stream 0 as well. */
const names = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `evt_n${from + index}`)

async function append(log: EventLog, from: number, to: number): Promise<void> {
  let expected = from - 1
  for (let at = from; at < to; at += 100) {
    const events = names(at, Math.min(at + 100, to)).map(name => event(name.slice('evt_'.length)))
    await log.append('s-0', expected, events)
    expected += events.length
  }
}

/** Collects pages until `count` events have come. */
function collector(count: number) {
  const pages: (readonly RecordedEvent[])[] = []
  const ids: string[] = []
  let done = () => {}
  const complete = new Promise<void>(resolve => {
    done = resolve
  })
  const onPage = (page: readonly RecordedEvent[]): void => {
    pages.push(page)
    ids.push(...page.map(({ id }) => id))
    if (ids.length >= count) done()
  }
  return { pages, ids, complete, onPage }
}
