import type { Bucket } from '../../src/coordination/port.ts'
import { eventually } from '../support/eventually.ts'
import type { Open, Tap } from './contract.ts'

/** 10 a second, a burst of 60. */
const RATE = 600
const BURST = 60

/** Takes until there is none: how many there were. */
export async function drain(bucket: Bucket): Promise<number> {
  let taken = 0
  while (await bucket.take()) taken++
  return taken
}

export async function contractOfBuckets(t: Tap, open: Open): Promise<void> {
  t.test('a burst, then one token after the other', async t => {
    const node = await open(t)
    const begun = performance.now()
    const bucket = node.bucket('burst', RATE)
    t.equal(bucket.waitMs(), 0)
    const taken = await drain(bucket)
    const most = BURST + Math.ceil(((performance.now() - begun) * RATE) / 60_000)
    t.ok(taken >= BURST && taken <= most, `${taken} tokens in a burst of ${BURST}`)
    const waitMs = bucket.waitMs()
    t.ok(waitMs > 0 && waitMs <= 100, `${waitMs} ms until the next one`)
    await eventually('the next token comes', () => bucket.take())
    t.equal(node.bucket('burst', RATE), bucket, 'the same key means the same tokens')
    t.ok(await node.bucket('another', RATE).take(), 'another key has its own')
  })

  t.test('a token that was not used comes back', async t => {
    const node = await open(t)
    const bucket = node.bucket('back', 1)
    t.ok(await bucket.take(), 'a burst is at least one')
    t.notOk(await bucket.take())
    t.ok(bucket.waitMs() > 500)
    bucket.giveBack()
    t.equal(bucket.waitMs(), 0)
    t.ok(await bucket.take())
    t.notOk(await bucket.take())
  })

  t.test('without a rate there is no limit and nothing to wait for', async t => {
    const bucket = (await open(t)).bucket('free', 0)
    for (let n = 0; n < 1_000; n++) if (bucket.take() !== true) t.fail('a token is there at once')
    t.equal(bucket.waitMs(), 0)
  })

  t.test('many who ask at once get no more than there is', async t => {
    const bucket = (await open(t)).bucket('crowd', 6)
    const answers = await Promise.all(Array.from({ length: 50 }, () => bucket.take()))
    t.equal(answers.filter(Boolean).length, 1)
  })
}

export async function contractOfRequests(t: Tap, open: Open): Promise<void> {
  t.test('a key may ask as often as its limit says, in a window of a minute', async t => {
    const node = await open(t)
    for (let n = 1; n <= 10; n++) {
      const hit = await node.hit('key_a', 10)
      t.ok(hit.allowed)
      t.equal(hit.remaining, 10 - n)
      t.ok(hit.resetMs > 50_000 && hit.resetMs <= 60_000, `the window ends in ${hit.resetMs} ms`)
    }
    t.match(await node.hit('key_a', 10), { allowed: false, remaining: 0 })
    t.match(await node.hit('key_b', 10), { allowed: true, remaining: 9 }, 'another key has its own window')
    t.match(await node.hit('key_a', 0), { allowed: true }, 'without a limit everything is allowed')
  })
}
