/** Several nodes on one Redis: fair shares, take-over, and never two holders. */
import t from 'tap'
import { SHARDS } from '../../src/domain/shards.ts'
import { eventually } from '../support/eventually.ts'
import { fair, heldBy, LEASE_MS, openNode, ready, watchForDoubles } from './nodes.ts'
import { noRedis, startRedis } from './redis-server.ts'
import { layWire } from './wire.ts'

/** What a busy machine may add to a promise about time. */
const SLACK_MS = 1_500
const since = (begun: number): number => Math.round(performance.now() - begun)

if (noRedis) t.comment(noRedis)

t.test('nodes come, go and die, and no shard is ever held by two', { skip: noRedis }, async t => {
  const redis = await startRedis(t)
  const wire = await layWire(redis.port, t)
  const [one, two, doomed, added] = [
    openNode(t, { url: redis.url, name: 'one' }),
    openNode(t, { url: redis.url, name: 'two' }),
    openNode(t, { url: wire.url, name: 'doomed' }),
    openNode(t, { url: redis.url, name: 'added' })
  ]
  await ready(one, two, doomed, added)
  const eye = watchForDoubles([one, two, doomed, added])

  for (const node of [one, two, doomed]) node.leases.join()
  await fair([one, two, doomed])
  t.pass('three nodes share')

  added.leases.join()
  await fair([one, two, doomed, added])
  t.pass('a fourth gets its share from the others')

  // The others cannot tell it from a dead one; it goes on by its own clock, which is the harder case.
  let lastHeldAt = 0
  doomed.leases.watch({
    onAcquired: () => undefined,
    onLost() {
      lastHeldAt = performance.now()
    }
  })
  const cutAt = performance.now()
  wire.cut()
  t.ok(heldBy(doomed).length > 0, 'a node without Redis goes on for the rest of its leases')
  await fair([one, two, added])
  const tookMs = since(cutAt)
  t.ok(tookMs < LEASE_MS + SLACK_MS, `a dead node's shards are taken within the lease: ${tookMs} ms`)
  t.same(heldBy(doomed), [])
  t.ok(lastHeldAt > 0, 'its workers were told')
  t.notOk(doomed.health().ok)

  const leftAt = performance.now()
  await added.leases.leave()
  await fair([one, two])
  t.ok(since(leftAt) < 1_000 + SLACK_MS, `an orderly leave is taken over at once: ${since(leftAt)} ms`)

  wire.mend()
  await fair([one, two, doomed])
  t.pass('a node that is back gets its share')

  const { samples, doubles } = eye.stop()
  t.ok(samples > 200, `${samples} looks`)
  t.same(doubles, [])
})

t.test('a shard is given up only when its worker has let go, or its time is over', { skip: noRedis }, async t => {
  const redis = await startRedis(t)
  const slow = openNode(t, { url: redis.url, name: 'slow' })
  const other = openNode(t, { url: redis.url, name: 'other' })
  await ready(slow, other)
  slow.leases.join()
  await fair([slow])
  const given: number[] = []
  let letGo = (): void => undefined
  slow.leases.watch({
    onAcquired: () => undefined,
    onLost(shards) {
      given.push(...shards)
      return new Promise(resolve => {
        letGo = resolve
      })
    }
  })
  other.leases.join()
  await eventually('the worker is asked to let go of the excess', () => given.length === SHARDS / 2)
  t.notOk(given.some(slow.leases.holds), 'it starts nothing more there')
  const { doubles } = await new Promise<{ doubles: string[] }>(resolve => {
    const eye = watchForDoubles([slow, other])
    setTimeout(() => resolve(eye.stop()), 300)
  })
  t.same(doubles, [])
  t.same(heldBy(other), [], 'nobody else has them yet')
  letGo()
  await fair([slow, other])
  t.same(
    heldBy(other),
    [...given].sort((a, b) => a - b)
  )
})
