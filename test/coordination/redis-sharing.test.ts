/** What two nodes share: rates, limits, secrets and news. */
import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { drain } from './contract-limits.ts'
import { openNode, ready } from './nodes.ts'
import { noRedis, startRedis } from './redis-server.ts'

if (noRedis) t.comment(noRedis)

t.test('two nodes on one Redis', { skip: noRedis }, async t => {
  const redis = await startRedis(t)
  const one = openNode(t, { url: redis.url, name: 'one' })
  const two = openNode(t, { url: redis.url, name: 'two' })
  await ready(one, two)

  t.test('send together no faster than the rate and its burst', async t => {
    const [rate, burst, lengthMs] = [6_000, 600, 1_000]
    const begun = performance.now()
    let taken = 0
    const takeAll = async (node: typeof one): Promise<void> => {
      const bucket = node.bucket('together', rate)
      while (performance.now() - begun < lengthMs)
        if (await bucket.take()) taken++
        else await new Promise(resolve => setTimeout(resolve, bucket.waitMs()))
    }
    await Promise.all([takeAll(one), takeAll(two), takeAll(one)])
    const passedMs = performance.now() - begun
    const most = burst + (passedMs * rate) / 60_000 + 1
    t.ok(taken <= most, `${taken} tokens, at most ${Math.round(most)}`)
    t.ok(taken > most * 0.8, 'and nearly all of them')
  })

  t.test('a handover does not refill a bucket', async t => {
    const spent = await drain(one.bucket('handover', 60))
    t.equal(spent, 6)
    t.ok((await drain(two.bucket('handover', 60))) <= 1, 'the next holder finds what is left')
  })

  t.test('what one node holds in hand and does not use is there for the other', async t => {
    const [mine, theirs] = [one.bucket('hand', 800), two.bucket('hand', 800)]
    t.ok(await mine.take(), 'a handful of ten is taken')
    let taken = 0
    await eventually('the other one gets the whole rest of the burst', async () => {
      taken += await drain(theirs)
      return taken >= 79
    })
    t.pass()
  })

  t.test('a limit of requests holds over both', async t => {
    for (let n = 0; n < 12; n++) t.ok((await one.hit('key_1', 20)).allowed)
    const answers = []
    for (let n = 0; n < 12; n++) answers.push(await two.hit('key_1', 20))
    t.same(
      answers.map(hit => hit.allowed),
      [...new Array(8).fill(true), ...new Array(4).fill(false)]
    )
    t.notOk((await one.hit('key_1', 20)).allowed)
  })

  t.test('a key far from its limit waits for nothing, and is counted all the same', async t => {
    await one.hit('key_2', 1_000)
    for (let n = 0; n < 300; n++) if (one.hit('key_2', 1_000) instanceof Promise) t.fail('a promise')
    await eventually('the other node knows', async () => (await two.hit('key_2', 1_000)).remaining < 700)
    const crowd = await Promise.all(
      [one, two].flatMap(node => Array.from({ length: 600 }, () => node.hit('key_3', 600)))
    )
    const allowed = crowd.filter(hit => hit.allowed).length
    t.ok(allowed >= 600 && allowed <= 900, `${allowed} of 1,200 at once with a limit of 600`)
  })

  t.test('a value is read on the other node, and only with the secret', async t => {
    const eavesdropper = openNode(t, { url: redis.url, name: 'three', secret: randomBytes(32) })
    await ready(eavesdropper)
    await one.ephemeral.put('qr:cxn_1', 'a login secret', 60_000)
    t.equal((await two.ephemeral.get('qr:cxn_1'))?.toString(), 'a login secret')
    t.equal(await eavesdropper.ephemeral.get('qr:cxn_1'), null)
    const raw = new Redis(redis.url)
    t.teardown(() => raw.disconnect())
    const stored = (await raw.get('ledgerline:short:qr:cxn_1')) ?? ''
    t.ok(stored.length > 0)
    t.notOk(stored.includes('secret') || Buffer.from(stored, 'base64').includes('secret'))
    t.ok((await raw.pttl('ledgerline:short:qr:cxn_1')) <= 60_000)
    await raw.rename('ledgerline:short:qr:cxn_1', 'ledgerline:short:qr:cxn_2')
    t.equal(await two.ephemeral.get('qr:cxn_2'), null, 'a value that was moved does not open')
    await two.ephemeral.put('qr:cxn_3', 'x', 60_000)
    await one.ephemeral.delete('qr:cxn_3')
    t.equal(await two.ephemeral.get('qr:cxn_3'), null)
  })

  t.test('an announcement reaches both, once each', async t => {
    const heard: string[] = []
    one.subscribe('keys', text => void heard.push(`one ${text}`))
    two.subscribe('keys', text => void heard.push(`two ${text}`))
    await eventually('both listen', () => {
      one.announce('keys', 'ping')
      return heard.includes('two ping')
    })
    heard.length = 0
    one.announce('keys', 'key_1')
    await eventually('both hear', () => heard.includes('one key_1') && heard.includes('two key_1'))
    t.equal(heard.filter(text => text.endsWith('key_1')).length, 2)
  })
})
