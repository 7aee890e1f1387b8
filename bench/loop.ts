/**
 * The whole loop at open arrivals: a text accepted over HTTP, sent, three status callbacks in, four signed webhooks out.
 * The rate climbs until a loop is not finished in time; fakes, load and receiver run on the same machine.
 */
import { join } from 'node:path'
import type { LoadOrder, OpenLoad } from './load.ts'
import type { Bench } from './main.ts'
import { type Program, startProgram } from './program.ts'
import type { Collected } from './receiver.ts'
import { type BenchedService, pause, startService } from './service.ts'
import type { Moment, StartedSimulator } from './simulator.ts'
import { percentile } from './statistics.ts'
import { type Figure, ms, perSecond } from './table.ts'

const CHANNELS = 10
const CONNECTIONS = 32
const CONTACTS = 1_000
/** Every loop is finished so long after the last send, the platform's own 500 ms included. */
const FINISHED_MS = 2_000
/** What is late is waited for, so that the next rate starts on an idle service. */
const LATE_MS = 30_000
const POLL_MS = 20
const WARMUP = { perSecond: 100, forMs: 4_000 }

type Scene = {
  readonly service: BenchedService
  readonly load: Program
  readonly simulator: Program
  readonly receiver: Program
  readonly paths: readonly string[]
}
type Run = {
  readonly rate: number
  /** From the last send to the last webhook. */
  readonly tailMs: number
  readonly cpuMs: number
  readonly sendP99: number
  readonly callbackP95: number
  readonly webhooksEach: number
}

export async function loop(bench: Bench): Promise<readonly Figure[]> {
  const scene = await open(bench)
  await run(scene, WARMUP.perSecond, WARMUP.forMs)
  let best: Run | null = null
  for (const rate of bench.rates) {
    const done = await run(scene, rate, bench.loopMs)
    bench.say(
      `loop at ${rate}/s: finished ${Math.round(done.tailMs)} ms after the last send, ${done.cpuMs.toFixed(2)} ms of ` +
        `processor time each, send p99 ${ms(done.sendP99)}, callback to webhook p95 ${ms(done.callbackP95)}, ` +
        `${done.webhooksEach.toFixed(2)} webhooks each`
    )
    if (done.tailMs > FINISHED_MS) break
    best = done
  }
  await scene.service.stop()
  await Promise.all([scene.load.stop(), scene.simulator.stop(), scene.receiver.stop()])
  return best ? figures(best, bench.loopMs) : []
}

async function open(bench: Bench): Promise<Scene> {
  const simulator = startProgram('simulator')
  const receiver = startProgram('receiver')
  const started = await simulator.ask<StartedSimulator>({ kind: 'start', numbers: CHANNELS, statuses: true })
  const service = await startService({
    ...bench,
    dataDir: join(bench.folder, 'loop'),
    simulator: started,
    name: 'loop'
  })
  const paths = await service.createChannels(CHANNELS)
  await simulator.ask({ kind: 'callback', url: `${service.url}/webhooks/official` })
  await service.call('POST', '/v1/webhooks/destinations', { url: await receiver.ask<string>({ kind: 'start' }) })
  await service.quiet()
  await receiver.ask({ kind: 'collect' })
  return { service, simulator, receiver, load: startProgram('load'), paths }
}

async function run({ service, load, simulator, receiver, paths }: Scene, rate: number, forMs: number): Promise<Run> {
  const { url, apiKey } = service
  const cpuBefore = service.cpuSeconds()
  const target = { url, apiKey, paths, connections: CONNECTIONS, contacts: CONTACTS }
  const order: LoadOrder = { kind: 'open', ...target, perSecond: rate, forMs }
  const { sent, p99 } = await load.ask<OpenLoad>(order)
  for (let waited = 0; waited < LATE_MS; waited += POLL_MS) {
    if ((await receiver.ask<number>({ kind: 'complete' })) >= sent.length) break
    await pause(POLL_MS)
  }
  const cpuMs = ((service.cpuSeconds() - cpuBefore) * 1000) / sent.length
  const { done, statuses, webhooks } = await receiver.ask<Collected>({ kind: 'collect' })
  const posted = await simulator.ask<readonly Moment[]>({ kind: 'statuses' })
  await service.quiet()
  const lastSend = Math.max(...sent.map(([, at]) => at))
  const lastDone = done.length < sent.length ? Number.POSITIVE_INFINITY : Math.max(...done.map(([, at]) => at))
  return {
    rate,
    tailMs: lastDone - lastSend,
    cpuMs,
    sendP99: p99,
    callbackP95: waitP95(posted, statuses),
    webhooksEach: webhooks / sent.length
  }
}

/** From the moment a status left the platform to the moment its webhook arrived. The first one is counted. */
function waitP95(posted: readonly Moment[], arrived: readonly Moment[]): number {
  const began = new Map<string, number>()
  for (const [name, at] of posted) if (!began.has(name)) began.set(name, at)
  const waits = arrived.flatMap(([name, at]) => {
    const since = began.get(name)
    // Our own `sent` is told when the platform answers, before it reports anything.
    return since === undefined || name.endsWith('|sent') ? [] : [at - since]
  })
  return percentile(waits, 0.95)
}

function figures(best: Run, forMs: number): readonly Figure[] {
  const figure = (name: string, ours: string, target: string): Figure => ({
    name,
    ours,
    floor: '–',
    ratio: null,
    target
  })
  const seconds = Math.round(forMs / 1000)
  return [
    figure(`Full loop, open arrivals for ${seconds} s: largest rate held`, perSecond(best.rate), '1,000/s'),
    figure('Processor time per loop at that rate', `${best.cpuMs.toFixed(2)} ms`, '≤ 1.2 ms'),
    figure('Send answer p99 at that rate', ms(best.sendP99), '≤ 25 ms'),
    figure('Status callback → webhook p95 at that rate', ms(best.callbackP95), '≤ 100 ms')
  ]
}
