/** What one node does holds on the others: reads, revocations, and the work of a node that leaves or dies. */
import t from 'tap'
import { noRedis } from '../coordination/redis-server.ts'
import { eventually } from '../support/eventually.ts'
import { storyOf } from '../support/tenant.ts'
import { startCluster } from './cluster.ts'

const LEASE_MS = 5_000
const CHANNELS = 8
const RECEIVERS = 4
/** Far below a lease: what is handed over in an orderly way waits for none. */
const AT_ONCE_MS = 3_000
/** The views of a busy machine may be some events behind; the specification allows a second. */
const EFFECTIVE_MS = 1_000

t.setTimeout(180_000)

t.test('two nodes, one service', { skip: noRedis }, async t => {
  const cluster = await startCluster(t, { nodes: 2, settings: { LEASE_SECONDS: String(LEASE_MS / 1000) } })
  const issued = await cluster.issue('acme')
  const { anywhere, each } = cluster.seenBy(issued)
  const [first, second] = each
  const [nodeOne, nodeTwo] = cluster.nodes
  if (!first || !second || !nodeOne || !nodeTwo) throw new Error('two nodes are needed')
  const channels: string[] = []
  for (let number = 0; number < CHANNELS; number++) channels.push((await anywhere.officialNumber(cluster.official)).id)
  const receivers = await Promise.all(Array.from({ length: RECEIVERS }, () => anywhere.receiver(t)))

  /** One message a channel, sent through a node. */
  const sendAll = (through: typeof first): Promise<readonly string[]> =>
    Promise.all(channels.map(async id => (await through.send(id)).messageId))

  /** Every message is read, and every receiver knows its story; answers how many events that makes for each of them. */
  async function allTold(messages: readonly string[], through = anywhere): Promise<number> {
    let steps = 0
    for (const messageId of messages) {
      const story = storyOf(await through.reaches(messageId, 'read'))
      steps += story.length
      for (const hooks of receivers) await hooks.told(messageId, story.length)
    }
    return steps
  }

  const repeated = (): readonly string[] =>
    receivers.flatMap(hooks => {
      const ids = hooks.all().map(({ event }) => event.id)
      return ids.filter((id, index) => ids.indexOf(id) !== index)
    })

  /** Every delivery is called delivered by the log, as the other node shows it. */
  const noneOpen = (): Promise<boolean> =>
    eventually('all deliveries are settled', async () => {
      const path = '/v1/webhooks/deliveries?limit=100&state='
      const open = await Promise.all(
        ['pending', 'retrying'].map(state => second.ask<{ items: unknown[] }>('GET', `${path}${state}`))
      )
      if (open.some(({ status }) => status !== 200)) throw new Error(`deliveries answered ${open[0]?.status}`)
      return open.every(({ body }) => body.items.length === 0)
    })

  await t.test('a 202 from one node is tracked on the other at once', async t => {
    for (const channel of channels) {
      const { messageId } = await first.send(channel)
      const tracked = await second.ask<{ id: string }>('GET', `/v1/messages/${messageId}`)
      t.equal(tracked.status, 200)
      t.equal(tracked.body.id, messageId)
    }
  })

  await t.test('a key that is revoked on one node opens nothing on the other within a second', async t => {
    const spare = await cluster.issue('acme', ['keys:write', 'channels:read'])
    const { each: own } = cluster.seenBy(spare)
    t.equal((await own[1]?.ask('GET', '/v1/channels'))?.status, 200)
    const keys = await own[0]?.ask<{ items: { id: string; lastFour: string }[] }>('GET', '/v1/keys')
    const id = keys?.body.items.find(({ lastFour }) => lastFour === spare.apiKey.slice(-4))?.id
    t.equal((await own[0]?.ask('DELETE', `/v1/keys/${id}`))?.status, 204)
    const began = Date.now()
    await eventually(
      'the other node refuses it',
      async () => (await own[1]?.ask('GET', '/v1/channels'))?.status === 401
    )
    t.ok(Date.now() - began < EFFECTIVE_MS, `${Date.now() - began} ms`)
    t.equal((await own[0]?.ask('GET', '/v1/channels'))?.status, 401, 'nor on its own')
  })

  await t.test('a number that is disconnected on one node takes nothing on the other within a second', async t => {
    const { id } = await first.officialNumber(cluster.official)
    t.equal((await second.trySend(id)).status, 202)
    t.equal((await first.ask('POST', `/v1/channels/${id}/disconnect`)).status, 200)
    const began = Date.now()
    const refusal = async () => (await second.trySend(id)).body.error?.code
    await eventually('the other node refuses', async () => (await refusal()) === 'channel_disconnected')
    t.ok(Date.now() - began < EFFECTIVE_MS, `${Date.now() - began} ms`)
  })

  await t.test('a node that is told to stop hands its work over at once', async t => {
    await allTold(await sendAll(first))
    const began = Date.now()
    const stopped = nodeOne.stop()
    const messages = await sendAll(second)
    t.equal(await stopped, 0, 'exit code')
    await eventually('all are sent', async () => {
      const states = await Promise.all(messages.map(async id => (await second.track(id)).state))
      return states.every(state => ['sent', 'delivered', 'read'].includes(state))
    })
    const tookMs = Date.now() - began
    t.ok(tookMs < AT_ONCE_MS, `${tookMs} ms`)
    await allTold(messages)
    t.same(repeated(), [], 'no event was posted twice')
    await nodeOne.start()
  })

  await t.test(
    'a node that dies is replaced within a lease, and nothing that was delivered is posted again',
    async t => {
      // Both nodes have their share again when each of them has started a dispatch.
      await allTold(await sendAll(first))
      await noneOpen()
      const before = receivers.map(hooks => hooks.all().length)
      await nodeOne.kill()
      const began = Date.now()
      const messages = await sendAll(second)
      await eventually('all are sent', async () => {
        const states = await Promise.all(messages.map(async id => (await second.track(id)).state))
        return states.every(state => ['sent', 'delivered', 'read'].includes(state))
      })
      const tookMs = Date.now() - began
      t.ok(tookMs < LEASE_MS + 2_000, `${tookMs} ms`)
      const steps = await allTold(messages)
      t.same(repeated(), [], 'no event was posted twice')
      t.same(
        receivers.map((hooks, index) => hooks.all().length - (before[index] ?? 0)),
        receivers.map(() => steps),
        'the receivers got what is new and no more'
      )
      for (const messageId of messages) t.equal(await cluster.official.timesAccepted(messageId), 1)
    }
  )
})
