/**
 * Single sends over keep-alive connections, beside the floor from the same run, both turned to in alternation.
 * Nothing leaves: the platform refuses the number's token before the first round, so its queue stands still, while
 * admission goes on. Read as a client sees it: with a key, validation, limits, traces and log lines, all at their defaults.
 */
import { join } from 'node:path'
import { startClosedNumber } from './closed-numbers.ts'
import type { FloorOrder } from './floor.ts'
import type { ClosedLoad, LoadOrder } from './load.ts'
import type { Bench } from './main.ts'
import { startProgram } from './program.ts'
import { median } from './statistics.ts'
import { type Figure, ms, perSecond } from './table.ts'

const CONNECTIONS = 64
/** Rounds that do not count: ours and the floor's code has to be compiled by then. */
const WARM_ROUNDS = 2
const ROUNDS = 5
const WARMUP_MS = 1_000
const ROUND_MS = 4_000
/** A few hundred people who are written to again and again. */
const KNOWN_CONTACTS = 500

export async function admission(bench: Bench): Promise<readonly Figure[]> {
  const { service, path, simulator } = await startClosedNumber(bench, 'admission')
  const floor = startProgram('floor')
  const load = startProgram('load')
  const floorUrl = await floor.ask<string>({ kind: 'start', file: join(bench.folder, 'floor.db') } satisfies FloorOrder)

  async function measure(url: string, apiKey: string, contacts: number | null): Promise<ClosedLoad> {
    const times = { warmupMs: WARMUP_MS, forMs: ROUND_MS }
    const order: LoadOrder = {
      kind: 'closed',
      url,
      apiKey,
      paths: [path],
      connections: CONNECTIONS,
      contacts,
      ...times
    }
    return load.ask<ClosedLoad>(order)
  }

  async function compare(name: string, contacts: number | null): Promise<readonly Figure[]> {
    await floor.ask({ kind: 'contacts', known: contacts !== null } satisfies FloorOrder)
    const ours: ClosedLoad[] = []
    const theirs: ClosedLoad[] = []
    const cpuMs: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const before = service.cpuSeconds()
      const measured = await measure(service.url, service.apiKey, contacts)
      await service.quiet()
      const spentMs = (service.cpuSeconds() - before) * 1000
      const bare = await measure(floorUrl, 'none', contacts)
      if (round < WARM_ROUNDS) continue
      cpuMs.push(spentMs / ((measured.perSecond * (WARMUP_MS + ROUND_MS)) / 1000))
      ours.push(measured)
      theirs.push(bare)
    }
    bench.say(`admission, ${name}: ${median(cpuMs).toFixed(3)} ms of processor time each, views included`)
    return figures(name, ours, theirs)
  }

  const all = [...(await compare('every contact new', null)), ...(await compare('known contacts', KNOWN_CONTACTS))]
  await Promise.all([service.stop(), floor.stop(), load.stop(), simulator.stop()])
  return all
}

function figures(name: string, ours: readonly ClosedLoad[], floor: readonly ClosedLoad[]): Figure[] {
  const of = (loads: readonly ClosedLoad[], key: keyof ClosedLoad): number => median(loads.map(load => load[key]))
  const rate = { ours: of(ours, 'perSecond'), floor: of(floor, 'perSecond') }
  const p99 = { ours: of(ours, 'p99'), floor: of(floor, 'p99') }
  return [
    {
      name: `Single admission, ${name}`,
      ours: perSecond(rate.ours),
      floor: perSecond(rate.floor),
      ratio: rate.ours / rate.floor,
      target: '≥ 0.5'
    },
    {
      name: `Its latency, p50 / p99`,
      ours: `${ms(of(ours, 'p50'))} / ${ms(p99.ours)}`,
      floor: `${ms(of(floor, 'p50'))} / ${ms(p99.floor)}`,
      ratio: p99.ours / p99.floor,
      target: 'p99 ≤ 5'
    }
  ]
}
