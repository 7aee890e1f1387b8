import t from 'tap'
import { ANCHOR_INTERVAL_MS } from '../../src/log/anchor-keeper.ts'
import type { Anchor } from '../../src/log/anchors.ts'
import { isSigned, MAX_ANCHORED_EVENTS, parseAnchor, parseAnchorLine } from '../../src/log/anchors.ts'
import type { Writer } from '../../src/log/sqlite/writer.ts'
import { anchorKeys, openAnchoredLog } from '../support/anchored-log.ts'
import { all, event, openThreadedLog, temporaryDirectory } from '../support/log.ts'

const keys = anchorKeys()

t.test('an anchor is written ten seconds after the first event that it covers', async t => {
  const log = openAnchoredLog(temporaryDirectory(t), keys)
  log.append('s-1', event('a'), event('b'))
  log.clock.tick(ANCHOR_INTERVAL_MS - 1)
  await settled()
  t.equal(log.lines.length, 0)
  log.append('s-2', event('c'))
  log.clock.tick(1)
  await settled()
  t.match(anchors(log.writer), [{ from: 1, to: 3, count: 3, previous: '', publicKey: keys.publicKey }])
  log.writer.close()
})

t.test('an idle log gets no anchors, whatever it ends with', async t => {
  const log = openAnchoredLog(temporaryDirectory(t), keys)
  log.clock.tick(10 * ANCHOR_INTERVAL_MS)
  log.append('s-1', event('a'))
  for (let round = 0; round < 5; round++) {
    log.clock.tick(10 * ANCHOR_INTERVAL_MS)
    await settled()
  }
  await log.anchor()
  t.equal(anchors(log.writer).length, 1)
  log.writer.close()
})

t.test('each anchor goes on where the one before ended, across a restart too', async t => {
  const dataDir = temporaryDirectory(t)
  const first = openAnchoredLog(dataDir, keys)
  first.append('s-1', event('a'))
  await first.anchor()
  first.append('s-1', event('b'), event('c'))
  await first.anchor()
  first.append('s-1', event('left'))
  first.writer.close()

  const second = openAnchoredLog(dataDir, keys)
  second.append('s-1', event('d'))
  await second.anchor()
  const [one, two, three] = anchors(second.writer)
  t.match(two, { from: 2, to: 4, count: 3, previous: one?.signature })
  t.match(three, { from: 5, to: 7, count: 3, previous: two?.signature })
  second.writer.close()
})

t.test('a burst is anchored at once, in ranges of at most ten thousand events', async t => {
  const log = openAnchoredLog(temporaryDirectory(t), keys)
  const body = event('x')
  for (let batch = 0; batch < 100; batch++)
    log.append('s-1', ...Array.from({ length: 250 }, (_, index) => ({ ...body, id: `evt_${batch}-${index}` })))
  await log.anchor()
  const counts = anchors(log.writer).map(({ count }) => count)
  t.ok(counts.length >= 3)
  t.ok(counts.every(count => count <= MAX_ANCHORED_EVENTS))
  t.equal(anchors(log.writer).at(-1)?.to, log.writer.reader.head() - 1)
  log.writer.close()
})

t.test('the copy of an anchor can be checked by itself', async t => {
  const log = openAnchoredLog(temporaryDirectory(t), keys)
  log.append('s-1', event('a'))
  await log.anchor()
  const copy = parseAnchorLine(log.lines[0] ?? '')
  t.ok(copy && isSigned(copy))
  t.notOk(copy && isSigned({ ...copy, count: copy.count + 1 }))
  t.notOk(copy && isSigned({ ...copy, prefixesHash: copy.rolling }))
  t.notOk(copy && isSigned({ ...copy, publicKey: anchorKeys().publicKey }))
  log.writer.close()
})

t.test('the embedded log anchors what is left when it is closed, and reports the anchor', async t => {
  const dataDir = temporaryDirectory(t)
  const lines: string[] = []
  const log = await openThreadedLog(t, { dataDir, onAnchor: line => lines.push(line) })
  log.anchorWith(keys.privateKey)
  await log.append('s-1', -1, [event('a'), event('b')])
  await log.close()
  t.match(parseAnchorLine(lines[0] ?? ''), { from: 1, to: 2, count: 2, publicKey: keys.publicKey })
  const again = await openThreadedLog(t, { dataDir })
  t.match(
    (await all(again.read('anchors'))).map(({ position }) => position),
    [3]
  )
})

/** Lets the keeper read its slices and write. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
}

function anchors(writer: Writer): Anchor[] {
  return [...writer.reader.stream('anchors')].flat().map(({ body }) => {
    const anchor = parseAnchor(body)
    if (!anchor) throw new Error('this is no anchor')
    return anchor
  })
}
