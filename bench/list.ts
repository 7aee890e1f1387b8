/** The message list at 1,000,000 messages: each single filter, as a client of the API waits for it. */
import { join } from 'node:path'
import { channelOf, closeNumbers, setToken } from './closed-numbers.ts'
import type { BatchLoad, LoadOrder } from './load.ts'
import type { Bench } from './main.ts'
import { startProgram } from './program.ts'
import { type BenchedService, pause, startService } from './service.ts'
import type { StartedSimulator } from './simulator.ts'
import { ACCESS_TOKEN } from './simulator-world.ts'
import { percentile } from './statistics.ts'
import { type Figure, ms } from './table.ts'

const MESSAGES = 1_000_000
const BATCH_ITEMS = 2_000
const CHANNELS = 50
const CONTACTS = 20_000
/** Channels whose messages leave before the rest is admitted: that many states are not `queued`. */
const OPEN_CHANNELS = 5
const OPEN_BATCHES = 25
const ROUNDS = 300
const BETTER_TOKEN = `${ACCESS_TOKEN}-better`

type Page = { readonly items: readonly { readonly createdAt: string }[] }

export async function list(bench: Bench): Promise<readonly Figure[]> {
  const simulator = startProgram('simulator')
  const started = await simulator.ask<StartedSimulator>({ kind: 'start', numbers: CHANNELS, statuses: false })
  const dataDir = join(bench.folder, 'list')
  const service = await startService({ ...bench, dataDir, simulator: started, name: 'list' })
  const paths = await service.createChannels(CHANNELS)
  await setToken(started, ACCESS_TOKEN, 'revoked')
  await closeNumbers(service, paths, 'list')
  const load = startProgram('load')
  const admit = (onto: readonly string[], batches: number): Promise<BatchLoad> => {
    const { url, apiKey } = service
    return load.ask({
      kind: 'batches',
      url,
      apiKey,
      paths: onto,
      contacts: CONTACTS,
      connections: 2,
      batches
    } satisfies LoadOrder)
  }
  const open = paths.slice(0, OPEN_CHANNELS)
  await setToken(started, BETTER_TOKEN, 'valid')
  for (const path of open) await service.call('POST', `${channelOf(path)}/credentials`, { accessToken: BETTER_TOKEN })
  await admit(open, OPEN_BATCHES)
  await admit(paths.slice(OPEN_CHANNELS), MESSAGES / BATCH_ITEMS - OPEN_BATCHES)
  while ((await page(service, `state=queued&channelId=${idOf(open[0])}`)).items.length > 0) await pause(500)
  await service.quiet()
  const figures = await measure(bench, service, paths)
  await Promise.all([service.stop(), load.stop(), simulator.stop()])
  return figures
}

const idOf = (path = ''): string => channelOf(path).slice('/v1/channels/'.length)
const page = (service: BenchedService, query: string): Promise<Page> => service.call('GET', `/v1/messages?${query}`)

async function measure(bench: Bench, service: BenchedService, paths: readonly string[]): Promise<readonly Figure[]> {
  const newest = (await page(service, 'limit=1')).items[0]?.createdAt ?? ''
  const minuteBefore = new Date(Date.parse(newest) - 60_000).toISOString()
  const filters: Readonly<Record<string, (round: number) => string>> = {
    none: () => '',
    'state queued': () => 'state=queued',
    'state sent': () => 'state=sent',
    'state failed': () => 'state=failed',
    channel: round => `channelId=${idOf(paths[round % paths.length])}`,
    recipient: round => `recipient=55119${String((round * 61) % CONTACTS).padStart(9, '0')}`,
    from: () => `from=${minuteBefore}`,
    to: () => `to=${minuteBefore}`
  }
  let worst = { name: '', p99: 0 }
  /** What the machine adds to a request that asks for nothing, in turns with the others. */
  const bare: number[] = []
  for (const [name, queryOf] of Object.entries(filters)) {
    const spent: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      spent.push(await timed(() => page(service, queryOf(round))))
      bare.push(await timed(() => service.call('GET', '/healthz')))
    }
    const p99 = percentile(spent, 0.99)
    bench.say(`list, ${name}: p50 ${ms(percentile(spent, 0.5))}, p99 ${ms(p99)}`)
    if (p99 >= worst.p99) worst = { name, p99 }
  }
  const name = `List at 1,000,000 messages, p99 of the slowest filter (${worst.name})`
  const floor = percentile(bare, 0.99)
  return [{ name, ours: ms(worst.p99), floor: ms(floor), ratio: worst.p99 / floor, target: '< 20 ms' }]
}

async function timed(request: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await request()
  return performance.now() - began
}
