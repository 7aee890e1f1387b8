/**
 * Three nodes on one log and one Redis, while nodes are killed and started again, Redis loses all that it knew, and the
 * log's connections drop. The long form: NODES_STORM_CHANNELS=50 NODES_STORM_MESSAGES=5000.
 */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { openEventStoreLog } from '../../src/log/eventstore/home.ts'
import { noRedis } from '../coordination/redis-server.ts'
import { eventually } from '../support/eventually.ts'
import { runCommand } from '../support/service-process.ts'
import { storyOf } from '../support/tenant.ts'
import { type Node, startCluster } from './cluster.ts'
import { startStubbornLoad } from './stubborn-load.ts'
import { dumpViews, viewsPosition } from './views-dump.ts'

const CHANNELS = Number(process.env.NODES_STORM_CHANNELS ?? 10)
const MESSAGES = Number(process.env.NODES_STORM_MESSAGES ?? 600)
const KILLS_MIN = 2
const BETWEEN_MS = 2_000
/** Of a machine that is busy with other things too. */
const LIMIT_MS = 240_000
/** The states that a message may rest in once everything works again (decisions §3). */
const RESTING = new Set(['sent', 'delivered', 'read', 'failed'])

t.setTimeout(15 * 60_000)

t.test('nothing is lost and nothing is sent twice', { skip: noRedis }, async t => {
  const cluster = await startCluster(t, { nodes: 3, settings: { INDETERMINATE_TIMEOUT_SECONDS: '8' } })
  const { official, log } = cluster
  const issued = await cluster.issue('acme')
  const { anywhere } = cluster.seenBy(issued)
  const channels: string[] = []
  for (let number = 0; number < CHANNELS; number++) channels.push((await anywhere.officialNumber(official)).id)
  const hooks = await anywhere.receiver(t)
  const { url } = cluster
  const load = startStubbornLoad({
    url,
    apiKey: issued.apiKey,
    channels,
    messages: MESSAGES,
    connections: 8,
    pauseMs: 50
  })
  let loading = true
  const loaded = load.done.finally(() => {
    loading = false
  })

  const redis = cluster.redis[0]
  const troubles = [
    () => log.command('drop'),
    async () => {
      await redis?.kill()
      await pause(500)
      await redis?.start()
    },
    () => log.command('drop')
  ]
  let kills = 0
  while (loading || kills < KILLS_MIN || troubles.length > 0) {
    await pause(BETWEEN_MS)
    await troubles.shift()?.()
    const node = cluster.nodes[Math.floor(Math.random() * cluster.nodes.length)] as Node
    await node.kill()
    kills++
    await node.start()
  }
  await loaded
  t.comment(`${kills} kills; answers beside 202: ${JSON.stringify([...load.others])}`)
  const ids = [...load.acknowledged]
  t.equal(ids.length, MESSAGES, 'every message is acknowledged, under one id')

  const rest = new Map<string, number>()
  const seen = { open: MESSAGES }
  await eventually(
    'every message comes to rest and is told',
    async () => {
      rest.clear()
      seen.open = 0
      for (const id of ids) {
        const tracked = await anywhere.track(id)
        const heard = new Set(hooks.storyOf(id))
        const isTold = storyOf(tracked).every(step => heard.has(step))
        if (!RESTING.has(tracked.state) || tracked.state === 'sent' || tracked.state === 'delivered' || !isTold)
          seen.open++
        const name = tracked.lastError === null ? tracked.state : `${tracked.state} ${tracked.lastError}`
        rest.set(name, (rest.get(name) ?? 0) + 1)
      }
      return seen.open === 0
    },
    { limitMs: LIMIT_MS, seen: () => [seen, ...rest] }
  )
  t.comment(`states: ${JSON.stringify([...rest])}`)
  t.same(
    [...rest.keys()].filter(name => name !== 'read' && name !== 'failed dispatch_indeterminate'),
    [],
    'sent and read, or in a doubt that the table ends'
  )

  const { byCallbackData } = await official.control<{ byCallbackData: Record<string, number> }>('GET', 'sends')
  t.same(
    Object.entries(byCallbackData).filter(([, count]) => count > 1),
    [],
    'the platform got none twice'
  )
  const readCount = rest.get('read') ?? 0
  t.equal(Object.keys(byCallbackData).length, readCount, 'what the platform has is read, and nothing else is')

  const rebuilt = await cluster.node('rebuilt')
  await rebuilt.start()
  const all = [...cluster.nodes, rebuilt]
  const own = await openEventStoreLog({ url: log.url })
  const dumps = await eventually(
    'all views stand at the end of the log',
    async () => {
      const head = await own.head()
      if (!all.every(({ dataDir }) => viewsPosition(dataDir) >= head)) return null
      const taken = all.map(({ dataDir }) => dumpViews(dataDir))
      return taken.every(({ position }) => position === head) && (await own.head()) === head ? taken : null
    },
    { limitMs: LIMIT_MS, seen: () => all.map(({ dataDir }) => viewsPosition(dataDir)) }
  )
  await own.close()
  const proof = await runCommand(['log', 'verify', '--json'], { EVENTSTORE_URL: log.url }, rebuilt.dataDir)
  const { ok, faults, anchoredTo } = JSON.parse(proof.stdout)
  t.match({ ok, faults }, { ok: true, faults: [] }, 'the log is whole, and so is its one chain of anchors')
  t.ok(anchoredTo > 0)
  const [first, ...others] = dumps
  t.match(first?.tables.messages, new RegExp(`^${MESSAGES} rows`))
  for (const dump of others) t.same(dump, first, 'the views of all nodes, and those of a fresh one, are the same')
})
