import t from 'tap'
import { createLocalCoordination } from '../../src/coordination/local.ts'
import { contract } from './contract.ts'
import { openNode, ready } from './nodes.ts'
import { noRedis, type RedisServer, startRedis } from './redis-server.ts'

contract('one node', async (t, problems) => {
  const node = createLocalCoordination({ onProblem: problem => void problems?.push(problem) })
  t.teardown(() => node.close())
  return node
})

t.test('one node never waits', async t => {
  const node = createLocalCoordination()
  t.type(node.bucket('b', 60).take(), 'boolean')
  t.notOk(node.hit('k', 60) instanceof Promise)
})

if (noRedis) t.comment(noRedis)
let redis: Promise<RedisServer> | null = null
let homes = 0
contract(
  'Redis',
  async (t, problems) => {
    redis ??= startRedis({ teardown: run => rootTeardown(run) })
    const keyPrefix = `test${++homes}:`
    const node = openNode(t, { url: (await redis).url, name: 'n1', keyPrefix, ...(problems ? { problems } : {}) })
    await ready(node)
    return node
  },
  { skip: noRedis }
)

const rootTeardown = t.teardown.bind(t)
