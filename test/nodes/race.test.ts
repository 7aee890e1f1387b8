/** Two nodes get the same sends at the same moment: one message a key. */
import t from 'tap'
import { noRedis } from '../coordination/redis-server.ts'
import { eventually } from '../support/eventually.ts'
import { startCluster } from './cluster.ts'

const KEYS = Number(process.env.NODES_RACE_KEYS ?? 1_000)
const AT_ONCE = 20

t.setTimeout(180_000)

t.test('two nodes race on the same idempotency keys', { skip: noRedis }, async t => {
  const cluster = await startCluster(t, { nodes: 2 })
  const { anywhere, each } = cluster.seenBy(await cluster.issue('acme'))
  const channel = await anywhere.officialNumber(cluster.official)
  const firsts = new Map<string, number>()
  const ids = new Map<string, Set<string>>()

  async function race(number: number): Promise<void> {
    const key = `race-${number}`
    const to = `5521${String(number).padStart(9, '8')}`
    const answers = await Promise.all(each.map(node => node.send(channel.id, { key, to })))
    firsts.set(key, answers.filter(({ idempotent }) => !idempotent).length)
    ids.set(key, new Set(answers.map(({ messageId }) => messageId)))
  }

  for (let from = 0; from < KEYS; from += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, KEYS - from) }, (_, index) => race(from + index)))

  t.equal(firsts.size, KEYS)
  t.same(
    [...firsts].filter(([, count]) => count !== 1),
    [],
    'of two answers exactly one calls itself the first'
  )
  t.same(
    [...ids].filter(([, told]) => told.size !== 1),
    [],
    'both name the same message'
  )
  const messages = [...ids.values()].flatMap(told => [...told])
  t.equal(new Set(messages).size, KEYS, 'one message a key')
  const sends = (): Promise<Record<string, number>> =>
    cluster.official
      .control<{ byCallbackData: Record<string, number> }>('GET', 'sends')
      .then(({ byCallbackData }) => byCallbackData)
  await eventually('the platform has them all', async () => Object.keys(await sends()).length >= KEYS)
  for (const messageId of messages) await anywhere.reaches(messageId, 'read')
  const counts = await sends()
  t.same(Object.keys(counts).sort(), [...messages].sort(), 'the platform got these and no others')
  t.same([...new Set(Object.values(counts))], [1], 'each of them once')
})
