/** Two nodes that both hold every lease, because each asks another Redis: the log alone decides who starts a dispatch. */
import t from 'tap'
import { openEventStoreLog } from '../../src/log/eventstore/home.ts'
import { noRedis } from '../coordination/redis-server.ts'
import { eventually } from '../support/eventually.ts'
import { startCluster } from './cluster.ts'

const MESSAGES = Number(process.env.NODES_FENCE_MESSAGES ?? 1_000)
const CHANNELS = 4

t.setTimeout(180_000)

t.test('two nodes that hold the same leases dispatch each message once', { skip: noRedis }, async t => {
  const cluster = await startCluster(t, { nodes: 2, separateRedis: true })
  const { anywhere, each } = cluster.seenBy(await cluster.issue('acme'))
  const channels: string[] = []
  for (let number = 0; number < CHANNELS; number++) channels.push((await anywhere.officialNumber(cluster.official)).id)
  const hooks = await anywhere.receiver(t)

  const sent = await Promise.all(
    Array.from({ length: MESSAGES }, async (_, number) => {
      const node = each[number % each.length] ?? anywhere
      const to = `5521${String(number).padStart(9, '7')}`
      // All at once they may be too many for a moment; the key makes the repeat safe, as for any client.
      return eventually('a send is taken', async () => {
        const answer = await node.trySend(channels[number % CHANNELS] ?? '', { key: `fence-${number}`, to })
        if (answer.status !== 202 && answer.status !== 503) throw new Error(`a send was answered ${answer.status}`)
        return answer.status === 202 && answer.body.messageId
      })
    })
  )
  for (const messageId of sent) await anywhere.reaches(messageId, 'read')
  const { byCallbackData } = await cluster.official.control<{ byCallbackData: Record<string, number> }>('GET', 'sends')
  t.same(Object.keys(byCallbackData).sort(), [...sent].sort(), 'the platform got every message')
  t.same([...new Set(Object.values(byCallbackData))], [1], 'each of them once')

  await eventually('every event reaches the receiver', () =>
    sent.every(id => hooks.storyOf(id).includes('message.sent'))
  )

  const starts = await startsByNode(cluster.log.url, sent)
  t.equal(starts.length, MESSAGES, 'one start a message stands in the log')
  t.same([...new Set(starts)].sort(), ['node-1', 'node-2'], 'both nodes were at it')
  t.comment(`node-1 started ${starts.filter(name => name === 'node-1').length} of ${MESSAGES}`)
})

/** Which node started each dispatch, as the log tells. */
async function startsByNode(url: string, messageIds: readonly string[]): Promise<readonly string[]> {
  const log = await openEventStoreLog({ url })
  const starts: string[] = []
  for (const messageId of messageIds)
    for await (const { type, body } of log.read(`message-${messageId}`)) {
      if (type !== 'MessageDispatchStarted') continue
      const { dispatchId } = (JSON.parse(body) as { data: { dispatchId: string } }).data
      starts.push(dispatchId.split('.')[0] ?? '')
    }
  await log.close()
  return starts
}
