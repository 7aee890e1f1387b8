/** The log or Redis is gone for a while: what goes on, what is refused, and that all resumes by itself. */
import t from 'tap'
import { noRedis } from '../coordination/redis-server.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { startCluster } from './cluster.ts'

t.setTimeout(180_000)

t.test('outages', { skip: noRedis }, async t => {
  const cluster = await startCluster(t, { nodes: 2 })
  const { anywhere, each } = cluster.seenBy(await cluster.issue('acme'))
  const { id } = await anywhere.officialNumber(cluster.official)
  const earlier = await anywhere.send(id)
  await anywhere.reaches(earlier.messageId, 'read')
  const coordination = async (): Promise<readonly string[]> =>
    Promise.all(
      cluster.nodes.map(
        async ({ url }) => (await call<{ coordination: string }>('GET', `${url}/readyz`)).body.coordination
      )
    )

  await t.test('without the log a send is 503 and a read goes on; then everything works again', async t => {
    await cluster.log.command('refuse')
    const refused = await Promise.all(each.map(node => node.trySend(id)))
    for (const { status, body, headers } of refused) {
      t.equal(status, 503)
      t.equal(body.error?.code, 'overloaded')
      t.ok(Number(headers['retry-after']) > 0)
    }
    for (const node of each) t.equal((await node.track(earlier.messageId)).state, 'read')
    await cluster.log.command('accept')
    const later = await eventually('a send is taken', async () => {
      const answer = await anywhere.trySend(id, { key: 'after-the-outage' })
      return answer.status === 202 && answer.body
    })
    await anywhere.reaches(later.messageId, 'read')
    t.equal(await cluster.official.timesAccepted(later.messageId), 1)
  })

  await t.test('without Redis sends are taken and a node says what is missing; with it they go out', async t => {
    await cluster.redis[0]?.kill()
    await eventually('both nodes say so', async () => (await coordination()).every(reason => reason !== 'ok'))
    // Those that held leases go on until these end: then messages wait.
    const waiting = await eventually('a message waits', async () => {
      const { messageId } = await anywhere.send(id)
      const look = await new Promise<string>(resolve =>
        setTimeout(() => void anywhere.track(messageId).then(({ state }) => resolve(state)), 500)
      )
      return look === 'queued' && messageId
    })
    await cluster.redis[0]?.start()
    await anywhere.reaches(waiting, 'read')
    t.equal(await cluster.official.timesAccepted(waiting), 1)
    await eventually('both nodes are well', async () => (await coordination()).every(reason => reason === 'ok'))
  })

  await t.test('shards that are won while the log is away are worked when it is back', async t => {
    const [first] = cluster.nodes
    await cluster.log.command('refuse')
    await first?.kill()
    // Long enough for the survivor to win them: it has no answer of the log yet.
    await new Promise(resolve => setTimeout(resolve, 6_000))
    await cluster.log.command('accept')
    const survivor = each[1] ?? anywhere
    const numbers = await Promise.all(Array.from({ length: 6 }, () => survivor.officialNumber(cluster.official)))
    const sent = await Promise.all(numbers.map(number => survivor.send(number.id)))
    for (const { messageId } of sent) await survivor.reaches(messageId, 'read')
    t.equal(sent.length, 6)
  })
})
