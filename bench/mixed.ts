/**
 * Single sends at a steady rate while two clients post full batches back to back, every contact new: how long a single
 * one waits for its answer, beside the floor under the same load.
 */
import { join } from 'node:path'
import { startClosedNumber } from './closed-numbers.ts'
import type { FloorOrder } from './floor.ts'
import type { BatchLoad, LoadOrder, OpenLoad } from './load.ts'
import type { Bench } from './main.ts'
import { startProgram } from './program.ts'
import { pause } from './service.ts'
import { median } from './statistics.ts'
import { type Figure, ms, perSecond } from './table.ts'

/** The first does not count: it finds nothing compiled. */
const ROUNDS = 4
/** More than anybody takes in that time. */
const BATCHES = 30
const BATCH_CLIENTS = 2
const SINGLES_PER_SECOND = 200
const SINGLES_MS = 5_000
const SINGLE_CLIENTS = 32
/** Both kinds of load are under way by then. */
const AHEAD_MS = 100

type Beside = { readonly singles: OpenLoad; readonly batches: BatchLoad }

export async function mixed(bench: Bench): Promise<readonly Figure[]> {
  const { service, path, simulator } = await startClosedNumber(bench, 'mixed')
  const floor = startProgram('floor')
  const batches = startProgram('load')
  const singles = startProgram('load')
  const floorUrl = await floor.ask<string>({ kind: 'start', file: join(bench.folder, 'floor.db') } satisfies FloorOrder)
  await floor.ask({ kind: 'contacts', known: false } satisfies FloorOrder)

  const sendSingles = (url: string, apiKey: string): Promise<OpenLoad> =>
    singles.ask<OpenLoad>({
      url,
      apiKey,
      paths: [path],
      contacts: null,
      kind: 'open',
      perSecond: SINGLES_PER_SECOND,
      forMs: SINGLES_MS,
      connections: SINGLE_CLIENTS
    } satisfies LoadOrder)

  async function measure(url: string, apiKey: string): Promise<Beside> {
    await batches.ask({ kind: 'prepare', batches: BATCHES } satisfies LoadOrder)
    const many = batches.ask<BatchLoad>({
      url,
      apiKey,
      paths: [path],
      contacts: null,
      kind: 'batches',
      batches: BATCHES,
      forMs: AHEAD_MS + SINGLES_MS,
      connections: BATCH_CLIENTS
    } satisfies LoadOrder)
    await pause(AHEAD_MS)
    const one = await sendSingles(url, apiKey)
    return { singles: one, batches: await many }
  }

  const ours: Beside[] = []
  const theirs: Beside[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const measured = await measure(service.url, service.apiKey)
    await service.quiet()
    const bare = await measure(floorUrl, 'none')
    if (round === 0) continue
    ours.push(measured)
    theirs.push(bare)
  }
  const alone = await sendSingles(service.url, service.apiKey)
  bench.say(`single sends with no batches beside them: p50 ${ms(alone.p50)}, p99 ${ms(alone.p99)}`)
  await Promise.all([service.stop(), floor.stop(), batches.stop(), singles.stop(), simulator.stop()])
  const latency = (runs: readonly Beside[], key: 'p50' | 'p99'): number => median(runs.map(run => run.singles[key]))
  const rate = (runs: readonly Beside[]): string => perSecond(median(runs.map(run => run.batches.perSecond)))
  const told = (runs: readonly Beside[]): string =>
    `${ms(latency(runs, 'p50'))} / ${ms(latency(runs, 'p99'))} beside ${rate(runs)}`
  return [
    {
      name: `Single sends, ${SINGLES_PER_SECOND}/s beside full batches: latency, p50 / p99`,
      ours: told(ours),
      floor: told(theirs),
      ratio: latency(ours, 'p99') / latency(theirs, 'p99'),
      target: 'p99 ≤ 50 ms'
    }
  ]
}
