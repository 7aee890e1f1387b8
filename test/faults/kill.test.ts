/**
 * kill -9 under load, again and again: what was answered 202 is there, nothing goes out twice, and what was caught in
 * flight is settled by the platform's report. The long variant: `KILLS=50 npx tap dist/test/faults/kill.test.js`.
 */
import t from 'tap'
import { verifyDataDir } from '../../src/log/sqlite/verify-data-dir.ts'
import { messagesInFlight, rebuildViews, viewsOfDataDir } from '../support/data-dir.ts'
import { eventually } from '../support/eventually.ts'
import { type Load, startLoad } from '../support/load.ts'
import { startWorld } from '../support/world.ts'

const KILLS = Number(process.env.KILLS ?? 5)
/** Acknowledged sends a second, of the last moments before a kill. */
const RATE_MIN = 500
const MOMENTS_MS = 150
/** A process that has just started needs a while to find its pace. */
const PACE_LIMIT_MS = 60_000
/** At the pace, a kill falls within this time. */
const KILL_WITHIN_MS = 60
/** Acknowledged sends that are asked for again after each kill. */
const AGAIN = 10
const SETTLED_LIMIT_MS = 60_000
const ASKED_AT_ONCE = 16

const world = await startWorld(t, {
  official: { autoStatuses: false },
  settings: { INDETERMINATE_TIMEOUT_SECONDS: '3600' }
})
const { official, service, dataDir } = world
const tenant = await world.tenant('acme')
const channel = await tenant.officialNumber(official)

const acknowledged = new Map<string, string>()
/** Caught in flight, by whether the platform has them. */
const accepted = new Set<string>()
const lost = new Set<string>()
const rates: number[] = []
let killsInFlight = 0

/** Resolves when so many sends a second have just been answered, with their rate. */
async function atPace(load: Load): Promise<number> {
  const seen: { at: number; count: number }[] = []
  let rate = 0
  return eventually(
    'a pace that is worth a kill',
    () => {
      const early = load.ended()
      if (early) throw early
      const [at, count] = [performance.now(), load.acknowledged.size]
      seen.push({ at, count })
      while (at - (seen[1]?.at ?? at) > MOMENTS_MS) seen.shift()
      const [first] = seen
      if (!first || at - first.at < MOMENTS_MS) return null
      rate = ((count - first.count) / (at - first.at)) * 1000
      return rate >= RATE_MIN && rate
    },
    { limitMs: PACE_LIMIT_MS, seen: () => Math.round(rate) }
  )
}

/** To the microsecond: a timer alone would always fall on the same steps of the event loop. */
async function atRandomMoment(): Promise<void> {
  const moment = performance.now() + 3 + Math.random() * KILL_WITHIN_MS
  await new Promise(resolve => setTimeout(resolve, moment - performance.now() - 2))
  while (performance.now() < moment);
}

async function all<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const one = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item)
  }
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, one))
}

/** State by message, from the list of all messages. */
async function statesOfAll(): Promise<ReadonlyMap<string, string>> {
  type Page = { items: { id: string; state: string }[]; nextCursor: string | null }
  const states = new Map<string, string>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { body } = await tenant.ask<Page>('GET', `/v1/messages?limit=100${from}`)
    for (const { id, state } of body.items) states.set(id, state)
    cursor = body.nextCursor
  }
  return states
}

async function killUnderLoad(round: number): Promise<Load> {
  const { apiKey } = tenant
  const at = { url: world.url, apiKey, channelId: channel.id, prefix: `round-${round}` }
  const load = startLoad({ ...at, connections: 64, recipients: 200 })
  try {
    rates.push(await atPace(load))
    await atRandomMoment()
    await service.kill()
  } finally {
    await load.stop()
  }
  return load
}

for (let round = 1; round <= KILLS; round++)
  t.test(`kill ${round}: nothing acknowledged is lost, nothing is sent twice`, async t => {
    const load = await killUnderLoad(round)
    t.same(load.refused, [], 'no send was refused')
    for (const [key, messageId] of load.acknowledged) acknowledged.set(key, messageId)
    const caught = messagesInFlight(dataDir)
    if (caught.length > 0) killsInFlight++
    await service.start()
    // Asked for after the start: what the dead process had sent may have waited in the platform's sockets until then.
    const wamids = new Map((await official.sends()).map(send => [send.callbackData, send.wamid]))

    await all(caught, async messageId => {
      t.equal((await tenant.track(messageId)).state, 'indeterminate', 'caught in flight')
      const wamid = wamids.get(messageId)
      if (wamid === undefined) return void lost.add(messageId)
      accepted.add(messageId)
      t.equal((await official.status({ wamid, status: 'delivered' })).status, 200)
      t.match(await tenant.track(messageId), { state: 'delivered', attempts: 1 }, 'settled by the late report')
    })
    const some = [...load.acknowledged].sort(() => Math.random() - 0.5).slice(0, AGAIN)
    await all(some, async ([key, messageId]) => {
      t.match(await tenant.send(channel.id, { key }), { messageId, idempotent: true }, 'the key is the message')
    })
    await all(load.unanswered, async key => {
      acknowledged.set(key, (await tenant.send(channel.id, { key })).messageId)
    })
  })

t.test('in the end every acknowledged message stands in tracking, sent once', async t => {
  let states: ReadonlyMap<string, string> = new Map()
  const isWrong = (messageId: string): boolean => {
    const state = states.get(messageId) ?? 'nowhere'
    return lost.has(messageId) ? state !== 'indeterminate' : state !== 'sent' && state !== 'delivered'
  }
  const wrong = (): readonly string[] => [...new Set(acknowledged.values())].filter(isWrong)
  await eventually(
    'the end of the queue',
    async () => {
      states = await statesOfAll()
      return wrong().length === 0
    },
    { limitMs: SETTLED_LIMIT_MS, seen: () => wrong().map(messageId => [messageId, states.get(messageId)]) }
  )
  t.equal(states.size, new Set(acknowledged.values()).size, 'and nothing else is there')
  type Sends = { accepted: number; distinct: number; byCallbackData: Record<string, number> }
  const sends = await official.control<Sends>('GET', 'sends?duplicates=1')
  t.same(sends.byCallbackData, {}, 'the platform saw no message twice')
  t.equal(sends.accepted, sends.distinct)
  t.equal(sends.distinct, new Set(acknowledged.values()).size - lost.size)
  for (const messageId of lost) t.equal(await official.timesAccepted(messageId), 0)
  const rate = Math.round(rates.reduce((sum, one) => sum + one, 0) / rates.length)
  t.comment(
    `${acknowledged.size} sends, at ${rate}/s before a kill, ${KILLS} kills, ${killsInFlight} with sends in flight`
  )
  t.comment(`caught: ${accepted.size} had reached the platform, ${lost.size} had not`)
  t.ok(killsInFlight >= KILLS / 5, 'at least a fifth of the kills caught a send in flight')
})

t.test('the log is whole, and the views are what it says', async t => {
  t.equal(await service.stop(), 0)
  const report = await verifyDataDir(dataDir)
  t.match(report, { ok: true, faults: [] })
  t.ok(report.events > acknowledged.size)
  const live = viewsOfDataDir(dataDir)
  await rebuildViews(dataDir)
  const folded = viewsOfDataDir(dataDir)
  t.same(Object.keys(folded.rows), Object.keys(live.rows))
  for (const [table, rows] of Object.entries(live.rows))
    t.equal(JSON.stringify(folded.rows[table]), JSON.stringify(rows), table)
  t.same(folded.indexes, live.indexes)
})
