/** Anchors on EventStoreDB: written by one node at a time, never forked, and true after a scavenge. */
import t from 'tap'
import { ANCHOR_INTERVAL_MS } from '../../src/log/anchor-keeper.ts'
import { MAX_ANCHORED_EVENTS, parseAnchor } from '../../src/log/anchors.ts'
import { createAnchoring } from '../../src/log/eventstore/anchoring.ts'
import type { EventStoreLog } from '../../src/log/eventstore/home.ts'
import { openEventStoreVerifySource } from '../../src/log/eventstore/verify-source.ts'
import { chainHash } from '../../src/log/hash-chain.ts'
import { NO_STREAM } from '../../src/log/port.ts'
import { type VerifyOptions, verifyLog } from '../../src/log/verify.ts'
import { anchorKeys, manualClock } from '../support/anchored-log.ts'
import type { Double } from '../support/eventstore/double.ts'
import { doubleFor, logOn } from '../support/eventstore/logs.ts'
import { eventually } from '../support/eventually.ts'
import { all, event } from '../support/log.ts'

type Scope = { teardown(run: () => unknown): unknown }
const keys = anchorKeys()

/** A node that follows the log from a position and may write its anchors. */
async function nodeOn(t: Scope, double: Double, start = 0) {
  const log = await logOn(t, double)
  const clock = manualClock()
  const lines: string[] = []
  const problems: unknown[] = []
  const seen = { to: start }
  const anchoring = createAnchoring({
    log,
    start,
    clock,
    onAnchor: line => lines.push(line),
    onProblem: error => problems.push(error)
  })
  log.follow(start, page => {
    anchoring.followed(page)
    seen.to = page.at(-1)?.position ?? seen.to
  })
  return {
    log,
    anchoring,
    lines,
    problems,
    begin: () => anchoring.begin(keys.privateKey),
    followed: () => eventually('the node has followed', async () => seen.to >= (await log.head())),
    /** Ten seconds pass, and what they bring about is done. */
    async tick(isDone: () => boolean | Promise<boolean>) {
      clock.tick(ANCHOR_INTERVAL_MS)
      await eventually('the anchor', isDone)
    }
  }
}

const anchorsOf = async (log: EventStoreLog) => (await all(log.read('anchors'))).map(({ body }) => parseAnchor(body))

async function verified(t: Scope, double: Double, options: VerifyOptions = {}) {
  const source = openEventStoreVerifySource({ url: double.url, streamPrefix: 'test-' })
  t.teardown(source.close)
  return verifyLog(source, { publicKeys: [keys.publicKey], ...options })
}

t.test(
  'ten seconds after an event an anchor signs what was followed, and goes on where the one before ended',
  async t => {
    const double = await doubleFor(t)
    const node = await nodeOn(t, double)
    await node.begin()
    await node.log.append('s-1', NO_STREAM, [event('a'), event('b')])
    await node.log.append('keys-1', NO_STREAM, [event('key')])
    await node.followed()
    await node.tick(() => node.lines.length === 1)
    await node.log.append('s-1', 1, [event('c')])
    await node.followed()
    await node.tick(() => node.lines.length === 2)
    const [one, two] = await anchorsOf(node.log)
    t.match(one, { from: 1, count: 2, previous: '' })
    t.match(
      two,
      { from: (one?.to ?? 0) + 1, count: 2, previous: one?.signature },
      'it covers the first anchor, and no key'
    )
    const report = await verified(t, double, { anchorLines: node.lines })
    t.match(report, { ok: true, events: 6, unanchored: null, anchoredTo: two?.to, publicKeys: [keys.publicKey] })
    await node.anchoring.end()
    t.equal((await anchorsOf(node.log)).length, 2, 'an idle log gets no further one')
    t.same(node.problems, [])
  }
)

t.test('two nodes that both believe it is their duty make one chain of anchors', async t => {
  const double = await doubleFor(t)
  const [one, two] = [await nodeOn(t, double), await nodeOn(t, double)]
  await Promise.all([one.begin(), two.begin()])
  for (let round = 0; round < 4; round++) {
    await one.log.append(`s-${round}`, NO_STREAM, [event(`e${round}`)])
    await Promise.all([one.followed(), two.followed()])
    const before = one.lines.length + two.lines.length
    await Promise.all([one, two].map(node => node.tick(() => one.lines.length + two.lines.length > before)))
  }
  await Promise.all([one.anchoring.end(), two.anchoring.end()])
  t.match(await verified(t, double, { anchorLines: [...one.lines, ...two.lines] }), { ok: true, unanchored: null })
  const stored = (await anchorsOf(one.log)).map(anchor => anchor?.signature)
  t.equal(new Set(stored).size, stored.length, 'no range is signed twice')
})

t.test('a node takes over where another one stopped, also what lies before its own memory', async t => {
  const double = await doubleFor(t)
  const first = await logOn(t, double)
  const each = 250
  for (let from = 0; from < MAX_ANCHORED_EVENTS + each; from += each)
    await first.append(
      `s-${from}`,
      NO_STREAM,
      Array.from({ length: each }, (_, index) => event(`${from + index}`))
    )
  const second = await nodeOn(t, double, await first.head())
  await second.begin()
  await eventually('all is anchored', () => second.lines.length === 2)
  t.match(await anchorsOf(first), [{ count: MAX_ANCHORED_EVENTS }, { count: each + 1 }])
  await second.anchoring.end()

  const third = await nodeOn(t, double)
  await third.followed()
  await third.begin()
  await third.log.append('s-last', NO_STREAM, [event('last')])
  await third.followed()
  await third.anchoring.end()
  t.equal(third.lines.length, 1, 'the end of a duty anchors what is left')
  t.match(await verified(t, double), { ok: true, unanchored: null })
})

t.test('what a forger does to signed history is named, even when he mends the chain', async t => {
  const forged = async (forge: (double: Double) => void) => {
    const double = await doubleFor(t)
    const node = await nodeOn(t, double)
    await node.begin()
    for (const stream of ['s-1', 's-2', 's-3']) await node.log.append(stream, NO_STREAM, [event(`${stream}-a`)])
    await node.log.append('s-2', 0, [event('s-2-b')])
    await node.followed()
    await node.anchoring.end()
    forge(double)
    const { ok, faults } = await verified(t, double, { anchorLines: node.lines })
    return { ok, first: faults[0] }
  }
  const last = (double: Double) =>
    double.records.log.find(record => record.stream === 'test-s-2' && record.revision === '1')

  t.match(
    await forged(double => {
      const record = last(double)
      if (!record) throw new Error('there is no such event')
      const metadata = JSON.parse(Buffer.from(record.metadata).toString())
      const { id, hash: _hash, ...meta } = metadata
      const first = double.records.log.find(({ stream }) => stream === 'test-s-2')
      const previous = JSON.parse(Buffer.from(first?.metadata ?? []).toString()).hash
      const body = Buffer.from(record.data).toString().replace('s-2-b', 's-2-x')
      const hash = chainHash(previous, 's-2', 1, { id, type: record.type, body, meta: JSON.stringify(meta) })
      Object.assign(record, { data: Buffer.from(body), metadata: Buffer.from(JSON.stringify({ ...metadata, hash })) })
    }),
    { ok: false, first: { kind: 'altered', message: 'it was another one when the log was signed' } }
  )
  t.match(await forged(({ records }) => records.lose(({ stream }) => stream === 'test-s-3')), {
    ok: false,
    first: { kind: 'missing', message: 'a signed event is missing here' }
  })
  t.match(await forged(({ records }) => records.lose(({ stream }) => stream === 'test-anchors')), {
    ok: false,
    first: { kind: 'missing', message: /kept elsewhere/ }
  })
})

t.test('a scavenge that takes erased keys away leaves the log provably whole', async t => {
  const double = await doubleFor(t)
  const node = await nodeOn(t, double)
  await node.begin()
  await node.log.append('keys-1', NO_STREAM, [event('key')])
  await node.log.append('s-1', NO_STREAM, [event('a')])
  await node.log.erase('keys-1')
  await node.followed()
  await node.anchoring.end()
  t.match(await verified(t, double), { ok: true })
  double.records.lose(({ stream }) => stream === 'test-keys-1')
  t.match(await verified(t, double), { ok: true, events: 2, unanchored: null })
})
