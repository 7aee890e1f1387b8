/**
 * Dispatch over many numbers: the messages are admitted while each number may send one a minute, then the service starts
 * again without that limit. Measured from the first send to the last, as the platform counts them, a cold start included;
 * the floor posts as many of the same bodies to the same simulator over as many connections.
 */
import { join } from 'node:path'
import type { LoadOrder } from './load.ts'
import type { Bench } from './main.ts'
import type { PosterOrder } from './poster.ts'
import { type Program, startProgram } from './program.ts'
import { pause, startService } from './service.ts'
import type { StartedSimulator } from './simulator.ts'
import { median } from './statistics.ts'
import { type Figure, perSecond } from './table.ts'

const CHANNELS = 100
const MESSAGES = 12_000
const ROUNDS = 3
/** Of the connector to the official platform. */
const CONNECTIONS = 256
const POLL_MS = 10
/** The queue is empty when nothing was sent for so long. */
const STILL_MS = 5_000
const START_MS = 30_000

export async function dispatch(bench: Bench): Promise<readonly Figure[]> {
  const simulator = startProgram('simulator')
  const started = await simulator.ask<StartedSimulator>({ kind: 'start', numbers: CHANNELS, statuses: false })
  const load = startProgram('load')
  const poster = startProgram('poster')
  const ours: number[] = []
  const floor: number[] = []
  let paths: readonly string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    paths = await admit(bench, started, load, paths)
    ours.push(await drain(bench, started))
    const order: PosterOrder = { url: started.graphUrl, numbers: CHANNELS, sends: MESSAGES, connections: CONNECTIONS }
    floor.push(await poster.ask<number>(order))
  }
  await Promise.all([load.stop(), poster.stop(), simulator.stop()])
  const rate = { ours: median(ours), floor: median(floor) }
  const name = `Dispatch over ${CHANNELS} official channels`
  return [
    { name, ours: perSecond(rate.ours), floor: perSecond(rate.floor), ratio: rate.ours / rate.floor, target: '≥ 0.5' }
  ]
}

const dataDirOf = (bench: Bench): string => join(bench.folder, 'dispatch')

async function admit(
  bench: Bench,
  simulator: StartedSimulator,
  load: Program,
  known: readonly string[]
): Promise<readonly string[]> {
  const variables = { RATE_LIMIT_PER_MINUTE: '1' }
  const service = await startService({ dataDir: dataDirOf(bench), simulator, variables, name: 'queue' })
  const paths = known.length > 0 ? known : await service.createChannels(CHANNELS)
  const { url, apiKey } = service
  await load.ask({
    kind: 'count',
    url,
    apiKey,
    paths,
    connections: 64,
    contacts: null,
    sends: MESSAGES
  } satisfies LoadOrder)
  await service.quiet()
  await service.stop()
  return paths
}

/** Starts the service on what waits, and answers the rate at which the platform got it. */
async function drain(bench: Bench, simulator: StartedSimulator): Promise<number> {
  // The first messages leave before the service says that it is ready.
  const watched = watch(simulator)
  const service = await startService({ ...bench, dataDir: dataDirOf(bench), simulator, name: 'dispatch' })
  const { sent, seconds } = await watched
  const cpuMs = service.cpuSeconds() * 1000
  await service.stop()
  if (sent < MESSAGES * 0.9) throw new Error(`the queue was not sent: ${sent} of ${MESSAGES}`)
  bench.say(`dispatch: ${sent} sent, ${(cpuMs / sent).toFixed(3)} ms of processor time each, start included`)
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
