/** Batches on EventStoreDB: the same one on two nodes at once, and one while the server is slow. */
import t from 'tap'
import { noRedis } from '../coordination/redis-server.ts'
import { eventually } from '../support/eventually.ts'
import { startCluster } from './cluster.ts'

const ITEMS = 150

/** Each append takes so long on a slow server. All at once they would wait longer for their turns than an append may. */
const SLOW_MS = 600
/** An append is given up after six seconds; so many at a time. */
const AWAY_MS = 25_000

t.setTimeout(400_000)

const messagesTo = (prefix: string) =>
  Array.from({ length: ITEMS }, (_, index) => ({
    to: `${prefix}${String(index).padStart(9, '6')}`,
    content: { kind: 'text', text: 'Hello' },
    idempotencyKey: `batch-${prefix}-${index}`
  }))

t.test('a batch on two nodes', { skip: noRedis }, async t => {
  const cluster = await startCluster(t, { nodes: 2 })
  const { anywhere, each } = cluster.seenBy(await cluster.issue('acme'))
  const [one, other] = each
  if (!one || !other) throw new Error('there are not two nodes')
  const channel = await anywhere.officialNumber(cluster.official)
  const messages = messagesTo('5521')
  const post = async (node: typeof one): Promise<readonly string[]> => {
    const path = `/v1/channels/${channel.id}/messages/batch`
    type Item = { messageId: string; error?: unknown }
    const { status, body } = await node.ask<{ results: Item[] }>('POST', path, { messages })
    t.equal(status, 202)
    t.same(
      body.results.flatMap(({ error }) => error ?? []),
      [],
      'every item is taken'
    )
    return body.results.map(({ messageId }) => messageId)
  }
  const [first, second, ...singles] = await Promise.all([
    post(one),
    post(other),
    ...messages
      .slice(0, 20)
      .map(({ to, idempotencyKey }) => one.send(channel.id, { to, key: idempotencyKey, text: 'Hello' }))
  ])
  t.strictSame(second, first)
  t.strictSame(
    singles.map(({ messageId }) => messageId),
    first.slice(0, 20)
  )
  for (const messageId of first) await anywhere.reaches(messageId, 'read')
  const { byCallbackData } = await cluster.official.control<{ byCallbackData: Record<string, number> }>('GET', 'sends')
  t.strictSame([...new Set(first.map(messageId => byCallbackData[messageId]))], [1], 'each of them once')
})

t.test('a batch on a slow server takes its time, and every item is taken', { skip: noRedis }, async t => {
  const cluster = await startCluster(t, { nodes: 1 })
  const { anywhere } = cluster.seenBy(await cluster.issue('acme'))
  const channel = await anywhere.officialNumber(cluster.official)
  await cluster.log.command(`delay ${SLOW_MS}`)
  const { body } = await anywhere.ask<{ results: { error?: unknown }[] }>(
    'POST',
    `/v1/channels/${channel.id}/messages/batch`,
    { messages: messagesTo('5531') }
  )
  await cluster.log.command('delay 0')
  t.equal(body.results.length, ITEMS)
  t.same(
    body.results.flatMap(({ error }) => error ?? []),
    []
  )
})

t.test(
  'a batch while the server is away is refused in good time, and taken when it is back',
  { skip: noRedis },
  async t => {
    const cluster = await startCluster(t, { nodes: 1 })
    const { anywhere, each } = cluster.seenBy(await cluster.issue('acme'))
    const [node] = each
    if (!node) throw new Error('there is no node')
    const channel = await anywhere.officialNumber(cluster.official)
    type Item = { messageId?: string; error?: { code: string } }
    const post = () =>
      node.ask<{ results: Item[] }>('POST', `/v1/channels/${channel.id}/messages/batch`, {
        messages: messagesTo('5541')
      })
    await cluster.log.command('refuse')
    const began = Date.now()
    const away = await post()
    t.ok(Date.now() - began < AWAY_MS, `${Date.now() - began} ms`)
    t.same([...new Set(away.body.results.map(({ error }) => error?.code))], ['overloaded'])
    await cluster.log.command('accept')
    const results = await eventually('every item is taken', async () => {
      const { body } = await post()
      return body.results.every(({ error }) => !error) && body.results
    })
    for (const { messageId } of results.slice(0, 5)) await anywhere.reaches(messageId ?? '', 'read')
  }
)
