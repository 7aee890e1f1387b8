import t from 'tap'
import { countSingle, createStandBack, newSinglesCount, standBackOf } from '../../src/service/stand-back.ts'

const PIECE_MS = 0.1

/** A thread in a time of its own, which sleeps when it is told to, and works else. */
function thread(count = 0) {
  let now = 1_000
  let asleep = 0
  let idle = 0
  let singles = count
  const sleeps: number[] = []
  const onPiece = createStandBack({
    now: () => now,
    // As the event loop has it: a thread that sleeps inside is not idle.
    worked: () => now - idle,
    singles: () => singles,
    sleep(ms) {
      sleeps.push(ms)
      asleep += ms
      now += ms
    }
  })
  return {
    sleeps,
    now: () => now,
    asleep: () => asleep,
    // As the shared number does it, which begins again at its other end.
    single() {
      singles = (singles + 1) | 0
    },
    wait(ms: number) {
      idle += ms
      now += ms
    },
    busy(ms: number) {
      now += ms
    },
    work(ms: number, beside: () => void = () => undefined) {
      for (let pieces = Math.round(ms / PIECE_MS); pieces > 0; pieces--) {
        now += PIECE_MS
        beside()
        onPiece()
      }
    }
  }
}

t.test('nobody else is there: no rest', async t => {
  const { work, wait, sleeps } = thread()
  work(5_000)
  wait(10)
  work(5_000)
  t.same(sleeps, [])
})

t.test('while single sends come, three quarters of the time are theirs', async t => {
  const one = thread()
  one.work(2_000, one.single)
  const share = 2_000 / (2_000 + one.asleep())
  t.ok(share > 0.22 && share < 0.27, `at work for ${share} of the time`)
})

t.test('a piece that took very long is rested little by little, and not to the end', async t => {
  const one = thread()
  one.work(8 * PIECE_MS, one.single)
  one.busy(400)
  one.work(20, one.single)
  t.ok(Math.max(...one.sleeps) <= 20, 'what it is asked meanwhile does not wait for long')
  t.ok(one.sleeps.length > 4, `${one.sleeps.length} rests`)
  t.ok(one.asleep() < 200, `a quarter would be ${3 * 420} ms of rest`)
})

t.test('one that waits for others anyway has rested meanwhile, but saves no rest up', async t => {
  const one = thread()
  one.work(10, one.single)
  const before = one.sleeps.length
  for (let turn = 0; turn < 50; turn++) {
    one.work(1, one.single)
    one.wait(9)
  }
  t.ok(one.sleeps.length <= before + 1, 'a tenth of the time is less than a quarter')
  const rested = one.sleeps.length
  one.work(4, one.single)
  t.ok(one.sleeps.length > rested, 'it has no credit from that')
})

t.test('when no more single sends come it works on', async t => {
  const one = thread()
  one.work(20, one.single)
  t.ok(one.sleeps.length > 0)
  one.wait(60)
  const before = one.sleeps.length
  one.work(1_000)
  t.equal(one.sleeps.length, before)
  one.single()
  one.work(20)
  t.ok(one.sleeps.length > before, 'the next one is met')
})

t.test('a count that begins again at its other end is a single send, too', async t => {
  const one = thread(2 ** 31 - 1)
  one.single()
  one.work(20)
  t.ok(one.sleeps.length > 0)
  const count = newSinglesCount()
  Atomics.store(count, 0, 2 ** 31 - 1)
  countSingle(count)
  t.equal(Atomics.load(count, 0), -(2 ** 31))
})

t.test('a real thread sleeps', async t => {
  const count = newSinglesCount()
  const onPiece = standBackOf(count)
  function spend(ms: number, beside: () => void): number {
    let slept = 0
    for (const end = performance.now() + ms; performance.now() < end; ) {
      for (const piece = performance.now() + PIECE_MS; performance.now() < piece; );
      beside()
      const called = performance.now()
      onPiece()
      slept += performance.now() - called
    }
    return slept
  }
  const beside = spend(600, () => countSingle(count))
  t.ok(beside > 150, `it rested for ${beside} of 600 ms`)
})
