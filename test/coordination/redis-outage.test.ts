/** Redis dies, forgets, hangs and comes back. */
import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import t from 'tap'
import { openRedisCoordination } from '../../src/coordination/redis/coordination.ts'
import { SHARDS } from '../../src/domain/shards.ts'
import { eventually } from '../support/eventually.ts'
import { drain } from './contract-limits.ts'
import { fair, heldBy, LEASE_MS, openNode, ready, secret, watchForDoubles } from './nodes.ts'
import { noRedis, startRedis } from './redis-server.ts'

if (noRedis) t.comment(noRedis)
process.on('unhandledRejection', error => t.fail('nothing is left unhandled', { error }))

t.test('Redis dies and comes back empty', { skip: noRedis }, async t => {
  const redis = await startRedis(t)
  const problems: string[] = []
  const one = openNode(t, { url: redis.url, name: 'one', problems })
  const two = openNode(t, { url: redis.url, name: 'two', problems })
  await ready(one, two)
  const eye = watchForDoubles([one, two])
  one.leases.join()
  two.leases.join()
  await fair([one, two])

  let lost = 0
  const end = one.leases.watch({
    onAcquired: () => undefined,
    onLost(shards) {
      lost += shards.length
    }
  })
  await redis.kill()
  await redis.start()
  await ready(one, two)
  const backAt = performance.now()
  await eventually('leases that were not put back would be over', () => performance.now() - backAt > LEASE_MS)
  t.same([lost, heldBy(one).length, heldBy(two).length], [0, SHARDS / 2, SHARDS / 2], 'a short absence changes nothing')

  await fair([one, two])
  await redis.kill()
  t.equal(heldBy(one).length, SHARDS / 2, 'holders go on until their leases end')
  await eventually('the absence is noticed', () => !one.health().ok && !two.health().ok)
  t.match(one.health().reason, /^Redis /)
  await eventually('leases end by the own clock', () => lost === SHARDS / 2 && heldBy(two).length === 0)
  end()

  await redis.start()
  await ready(one, two)
  await fair([one, two])
  t.ok(problems.length <= 12, `problems are told once, not with every retry: ${problems.length}`)
  t.same(eye.stop().doubles, [])
})

t.test('without Redis everything has a local stand-in', { skip: noRedis }, async t => {
  const redis = await startRedis(t)
  const node = openNode(t, { url: redis.url, name: 'alone' })
  await ready(node)
  const bucket = node.bucket('number', 600)
  t.ok((await node.hit('key', 100)).allowed)
  await redis.kill()
  await eventually('the absence is noticed', () => !node.health().ok)

  const begun = performance.now()
  const atOnce = await drain(bucket)
  t.ok(atOnce <= 1 + (performance.now() - begun) / 100, `the local bucket begins empty: ${atOnce}`)
  t.ok(bucket.waitMs() > 0, 'and is waited for')
  await eventually('and fills at its rate', () => bucket.take())

  t.match(node.hit('key', 100), { allowed: true, remaining: 98 }, 'requests are counted on here, at once')
  t.equal(
    (await Promise.all(Array.from({ length: 100 }, () => node.hit('key', 100)))).filter(h => h.allowed).length,
    98
  )
  await node.ephemeral.put('qr', 'secret', 60_000)
  t.equal((await node.ephemeral.get('qr'))?.toString(), 'secret')
  let heard = 0
  node.subscribe('keys', () => void heard++)
  node.announce('keys', '')
  await eventually('the own listeners hear', () => heard === 1)
})

t.test('a Redis that hangs counts as gone, and holds nobody up', { skip: noRedis }, async t => {
  const redis = await startRedis(t)
  t.teardown(() => redis.thaw())
  const problems: string[] = []
  const node = openNode(t, { url: redis.url, name: 'patient', problems })
  await ready(node)
  const bucket = node.bucket('number', 6_000)
  t.ok(await bucket.take())
  await eventually('nothing is in hand any more', async () => bucket.waitMs() === 0)
  redis.freeze()
  await eventually('the silence is noticed', async () => {
    await node.hit('key', 2)
    return !node.health().ok
  })
  t.match(node.health().reason, /answer|reached/)
  t.notOk(node.hit('key', 1_000) instanceof Promise, 'nobody waits for it any more')
  t.type(bucket.take(), 'boolean')
  redis.thaw()
  await ready(node)
  node.leases.join()
  await fair([node])
})

t.test('a Redis that is not there at the start is waited for; closing does not wait', { skip: noRedis }, async t => {
  const redis = await startRedis(t)
  await redis.kill()
  const problems: string[] = []
  const node = openNode(t, { url: redis.url, name: 'early', problems })
  node.leases.join()
  await eventually('it is told', () => problems.length > 0)
  t.match(problems[0], /ECONNREFUSED/)
  t.notOk(node.health().ok)
  await redis.start()
  await fair([node])
  await redis.kill()
  await node.close()
  t.same(heldBy(node), [])
})

t.test('a wrong password is named, and told to nobody', { skip: noRedis }, async t => {
  const redis = await startRedis(t)
  const raw = new Redis(redis.url)
  await raw.config('SET', 'requirepass', 'right-password')
  raw.disconnect()
  const errors: unknown[] = []
  const node = openRedisCoordination({
    redisUrl: redis.url.replace('//', '//:wrong-password@'),
    nodeId: 'stranger',
    leaseMs: LEASE_MS,
    secret,
    onProblem: (_, error) => void errors.push(error)
  })
  t.teardown(() => node.close())
  await eventually('it is told', () => errors.length > 0)
  t.match(node.health().reason, /WRONGPASS/)
  t.notMatch(inspect(errors, { depth: 10, showHidden: true }), /wrong-password/)
})
