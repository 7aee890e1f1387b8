/** The log or Redis is gone for a while: what goes on, what is refused, and that all resumes by itself. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { noRedis } from '../coordination/redis-server.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { createTenant } from '../support/tenant.ts'
import { startCluster } from './cluster.ts'

const LEASE_MS = 4_000

t.setTimeout(180_000)

t.test('outages', { skip: noRedis }, async t => {
  const cluster = await startCluster(t, { nodes: 2, settings: { LEASE_SECONDS: String(LEASE_MS / 1000) } })
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

  const readiness = async (): Promise<readonly { status: number; reason: string }[]> =>
    Promise.all(
      cluster.nodes.map(async ({ url }) => {
        const { status, body } = await call<object>('GET', `${url}/readyz`)
        return { status, reason: body.error?.message ?? 'ready' }
      })
    )

  await t.test('a node without the log takes itself out of the balance, and comes back by itself', async t => {
    await cluster.log.command('refuse')
    await eventually('no node is ready', async () => (await readiness()).every(({ status }) => status === 503))
    for (const { reason } of await readiness()) t.match(reason, /^EventStoreDB does not answer \(\w+\)$/)
    for (const { url } of cluster.nodes)
      t.equal((await call('GET', `${url}/healthz`)).status, 200, 'no restart is needed')
    await cluster.log.command('accept')
    await eventually('all are ready', async () => (await readiness()).every(({ status }) => status === 200))
  })

  await t.test('a key that a node cannot know yet is 503 there, not 401', async t => {
    const [, behind] = cluster.nodes
    if (!behind) throw new Error('two nodes are needed')
    const views = new Database(join(behind.dataDir, 'views.db'))
    views.exec('BEGIN IMMEDIATE')
    const fresh = cluster.seenBy(await cluster.issue('newcomer'))
    t.equal((await fresh.each[0]?.ask('GET', '/v1/channels'))?.status, 200, 'where it was made it opens')
    const refused = await fresh.each[1]?.ask('GET', '/v1/channels')
    t.match(refused, { status: 503, body: { error: { code: 'overloaded' } } })
    t.ok(Number(refused?.headers['retry-after']) > 0)
    await eventually('the node says what is wrong', async () =>
      /views stand still/.test((await readiness())[1]?.reason ?? '')
    )
    views.exec('ROLLBACK')
    views.close()
    await eventually(
      'it opens there too',
      async () => (await fresh.each[1]?.ask('GET', '/v1/channels'))?.status === 200
    )
    await eventually('the node is ready again', async () => (await readiness())[1]?.status === 200)
    const nobody = createTenant(behind.url, { tenantId: 'tn_nobody', apiKey: `llk_${'n'.repeat(43)}` })
    t.equal(
      (await nobody.ask('GET', '/v1/channels')).status,
      401,
      'a key of nobody is 401 once the views have seen everything'
    )
  })

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
    // A view that is behind says 503 rather than that there is no such message.
    await eventually('it can be tracked', async () => {
      const answer = await anywhere.ask('GET', `/v1/messages/${later.messageId}`)
      return [200, 503].includes(answer.status) ? answer.status === 200 : Promise.reject(new Error('it is denied'))
    })
    await anywhere.reaches(later.messageId, 'read')
    t.equal(await cluster.official.timesAccepted(later.messageId), 1)
  })

  await t.test('without Redis sends are taken and a node says what is missing; with it they go out', async t => {
    await cluster.redis[0]?.kill()
    await eventually('both nodes say so', async () => (await coordination()).every(reason => reason !== 'ok'))
    // Those that held leases go on until these have ended by their own clocks.
    await new Promise(resolve => setTimeout(resolve, LEASE_MS))
    const { messageId: waiting } = await anywhere.send(id)
    await new Promise(resolve => setTimeout(resolve, 1_000))
    t.equal((await anywhere.track(waiting)).state, 'queued', 'nobody may send it')
    await cluster.redis[0]?.start()
    await anywhere.reaches(waiting, 'read')
    t.equal(await cluster.official.timesAccepted(waiting), 1)
    await eventually('both nodes are well', async () => (await coordination()).every(reason => reason === 'ok'))
  })

  await t.test('shards that are won while the log is away are worked when it is back', async t => {
    const survivor = each[1] ?? anywhere
    const numbers = await Promise.all(Array.from({ length: 6 }, () => survivor.officialNumber(cluster.official)))
    await cluster.log.command('refuse')
    await cluster.nodes[0]?.kill()
    // Long enough for the survivor to win them: it has no answer of the log yet.
    await new Promise(resolve => setTimeout(resolve, LEASE_MS + 1_000))
    await cluster.log.command('accept')
    for (const number of numbers) {
      const key = `after-both-${number.id}`
      const taken = await eventually('a send is taken', async () => {
        const answer = await survivor.trySend(number.id, { key })
        return answer.status === 202 && answer.body
      })
      t.match(await survivor.reaches(taken.messageId, 'read'), { state: 'read' })
    }
  })
})
