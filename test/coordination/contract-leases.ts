import { ALL_SHARDS, SHARDS, shardOf } from '../../src/domain/shards.ts'
import { eventually } from '../support/eventually.ts'
import type { Open, Tap } from './contract.ts'
import { heldBy } from './nodes.ts'

const sorted = (shards: readonly number[]): number[] => [...shards].sort((a, b) => a - b)

export async function contractOfLeases(t: Tap, open: Open): Promise<void> {
  t.test('a node alone takes every shard when it joins, and gives all back when it leaves', async t => {
    const node = await open(t)
    const acquired: number[] = []
    const lost: number[] = []
    let finishWork = (): void => undefined
    const work = new Promise<void>(resolve => {
      finishWork = resolve
    })
    node.leases.watch({
      onAcquired: shards => void acquired.push(...shards),
      async onLost(shards) {
        t.notOk(shards.some(node.leases.holds), 'a lost shard is not held any more when the worker hears of it')
        lost.push(...shards)
        await work
      }
    })
    t.same(heldBy(node), [], 'nothing before it joins')
    node.leases.join()
    await eventually('all shards are held', () => heldBy(node).length === SHARDS)
    t.same(sorted(acquired), ALL_SHARDS, 'each is told once')
    t.ok(node.leases.owns('ch_01hzy'), 'an id is owned by the holder of its shard')
    t.notOk(node.leases.holds(SHARDS), 'there is no such shard')

    const late: number[] = []
    node.leases.watch({ onAcquired: shards => void late.push(...shards), onLost: () => undefined })
    t.same(sorted(late), ALL_SHARDS, 'a later worker hears at once of what is held')

    let left = false
    const leaving = node.leases.leave().then(() => {
      left = true
    })
    t.same(heldBy(node), [], 'nothing is held from the moment it leaves')
    t.same(sorted(lost), ALL_SHARDS)
    await new Promise(resolve => setImmediate(resolve))
    t.notOk(left, 'leaving waits for the work in hand')
    finishWork()
    await leaving
    node.leases.join()
    t.same(heldBy(node), [], 'leaving is final')
    t.same(acquired.length, SHARDS)
  })

  t.test('a worker that fails is a problem that is told, and the others hear', async t => {
    const problems: string[] = []
    const node = await open(t, problems)
    let heard = 0
    node.leases.watch({
      onAcquired: () => {
        throw new Error('cannot start')
      },
      onLost: () => Promise.reject(new Error('cannot stop'))
    })
    const end = node.leases.watch({ onAcquired: () => void heard++, onLost: () => undefined })
    node.leases.join()
    await eventually('the other worker hears', () => heard > 0)
    end()
    await node.leases.leave()
    t.match(problems, [/could not take over/, /could not let go/])
  })

  t.test('shards are dealt evenly, and an id keeps its own', async t => {
    const counts = new Array<number>(SHARDS).fill(0)
    for (let index = 0; index < 25_600; index++) {
      const shard = shardOf(`ch_01hzy${index.toString(36)}`)
      counts[shard] = (counts[shard] ?? 0) + 1
    }
    t.ok(Math.min(...counts) > 40 && Math.max(...counts) < 200, 'around 100 each')
    t.equal(shardOf('ch_01hzyxw2v3'), 157, 'nodes of different versions must agree')
  })
}
