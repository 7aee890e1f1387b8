/**
 * Dispatch over many numbers: the messages are admitted while the platform refuses the numbers' token; then each number
 * gets a better one, and all queues go at once. Measured from the first send to the last, as the platform counts them;
 * the floor posts as many of the same bodies to the same simulator over as many connections.
 */
import { join } from 'node:path'
import { channelOf, closeNumbers, setToken } from './closed-numbers.ts'
import type { LoadOrder } from './load.ts'
import type { Bench } from './main.ts'
import type { PosterOrder } from './poster.ts'
import { type Program, startProgram } from './program.ts'
import { type BenchedService, pause, startService } from './service.ts'
import type { StartedSimulator } from './simulator.ts'
import { ACCESS_TOKEN } from './simulator-world.ts'
import { median } from './statistics.ts'
import { type Figure, perSecond } from './table.ts'

const CHANNELS = 100
const MESSAGES = 12_000
/** Rounds that do not count: the code has to be compiled by then. */
const WARM_ROUNDS = 2
const ROUNDS = 5
/** Of the connector to the official platform. */
const CONNECTIONS = 256
const POLL_MS = 10
/** The queue is empty when nothing was sent for so long. */
const STILL_MS = 2_000
const START_MS = 30_000

export async function dispatch(bench: Bench): Promise<readonly Figure[]> {
  const simulator = startProgram('simulator')
  const started = await simulator.ask<StartedSimulator>({ kind: 'start', numbers: CHANNELS, statuses: false })
  const load = startProgram('load')
  const poster = startProgram('poster')
  const dataDir = join(bench.folder, 'dispatch')
  const service = await startService({ ...bench, dataDir, simulator: started, name: 'dispatch' })
  const paths = await service.createChannels(CHANNELS)
  const ours: number[] = []
  const floor: number[] = []
  let token = ACCESS_TOKEN
  for (let round = 0; round < ROUNDS; round++) {
    await setToken(started, token, 'revoked')
    await closeNumbers(service, paths, `dispatch-${round}`)
    await admit(service, load, paths)
    token = `${ACCESS_TOKEN}-${round}`
    await setToken(started, token, 'valid')
    const rate = await drain(bench, service, started, paths, token)
    await setToken(started, ACCESS_TOKEN, 'valid')
    const order: PosterOrder = { url: started.graphUrl, numbers: CHANNELS, sends: MESSAGES, connections: CONNECTIONS }
    const bare = await poster.ask<number>(order)
    if (round < WARM_ROUNDS) continue
    ours.push(rate)
    floor.push(bare)
  }
  await Promise.all([service.stop(), load.stop(), poster.stop(), simulator.stop()])
  const rate = { ours: median(ours), floor: median(floor) }
  const name = `Dispatch over ${CHANNELS} official channels`
  return [
    { name, ours: perSecond(rate.ours), floor: perSecond(rate.floor), ratio: rate.ours / rate.floor, target: '≥ 0.5' }
  ]
}

async function admit(service: BenchedService, load: Program, paths: readonly string[]): Promise<void> {
  const { url, apiKey } = service
  const order: LoadOrder = {
    kind: 'count',
    url,
    apiKey,
    paths,
    connections: 64,
    contacts: null,
    sends: MESSAGES - paths.length
  }
  await load.ask(order)
  await service.quiet()
}

/** Opens the numbers, all at once, and answers the rate at which the platform got what waited. */
async function drain(
  bench: Bench,
  service: BenchedService,
  simulator: StartedSimulator,
  paths: readonly string[],
  accessToken: string
): Promise<number> {
  const before = service.cpuSeconds()
  const watched = watch(simulator)
  await Promise.all(paths.map(path => service.call('POST', `${channelOf(path)}/credentials`, { accessToken })))
  const { sent, seconds } = await watched
  const cpuMs = (service.cpuSeconds() - before) * 1000
  if (sent < MESSAGES * 0.9) throw new Error(`the queue was not sent: ${sent} of ${MESSAGES}`)
  bench.say(`dispatch: ${sent} sent, ${(cpuMs / sent).toFixed(3)} ms of processor time each, views included`)
  return sent / seconds
}

/** Follows the platform's count from its first step until it stands still. */
async function watch(simulator: StartedSimulator): Promise<{ sent: number; seconds: number }> {
  const before = await acceptedBy(simulator)
  const began = performance.now()
  let first: Seen | null = null
  let last: Seen = { at: began, count: before }
  while (performance.now() - last.at < (first ? STILL_MS : START_MS)) {
    await pause(POLL_MS)
    const count = await acceptedBy(simulator)
    if (count === last.count) continue
    last = { at: performance.now(), count }
    first ??= last
  }
  if (!first || last.at === first.at) return { sent: 0, seconds: 1 }
  return { sent: last.count - first.count, seconds: (last.at - first.at) / 1000 }
}

type Seen = { readonly at: number; readonly count: number }

async function acceptedBy(simulator: StartedSimulator): Promise<number> {
  const answer = await fetch(`${simulator.url}/_control/sends?counts=0`)
  return ((await answer.json()) as { accepted: number }).accepted
}
