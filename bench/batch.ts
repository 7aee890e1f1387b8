/**
 * Batch admission: a burst of full batches (2,000 messages, 512 KB), every contact new, from two clients, beside the floor of
 * the same run: the same bodies parsed, the same encryptions and hashes, the same rows in commits of the same size.
 */
import { join } from 'node:path'
import { startClosedNumber } from './closed-numbers.ts'
import type { FloorOrder } from './floor.ts'
import type { BatchLoad, LoadOrder } from './load.ts'
import type { Bench } from './main.ts'
import { startProgram } from './program.ts'
import { until } from './service.ts'
import { median } from './statistics.ts'
import { type Figure, perSecond } from './table.ts'

/** The first does not count: it finds nothing compiled. */
const ROUNDS = 6
const BATCHES = 10
const CLIENTS = 2
const CAUGHT_UP_MS = 30_000

export async function batch(bench: Bench): Promise<readonly Figure[]> {
  const { service, path, simulator } = await startClosedNumber(bench, 'batch')
  const floor = startProgram('floor')
  const load = startProgram('load')
  const file = join(bench.folder, 'floor.db')
  const floorUrl = await floor.ask<string>({ kind: 'start', file } satisfies FloorOrder)
  await floor.ask({ kind: 'contacts', known: false } satisfies FloorOrder)
  const measure = (url: string, apiKey: string): Promise<BatchLoad> =>
    load.ask({
      kind: 'batches',
      url,
      apiKey,
      paths: [path],
      contacts: null,
      batches: BATCHES,
      connections: CLIENTS
    } satisfies LoadOrder)
  const ours: number[] = []
  const theirs: number[] = []
  const behindMs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = await service.position()
    const { messages, perSecond: rate } = await measure(service.url, service.apiKey)
    const answered = performance.now()
    // Two events a message: the contact's key and the message.
    const target = before + 2 * messages
    if (!(await until(async () => (await service.position()) >= target, CAUGHT_UP_MS)))
      throw new Error('the views did not catch up with the batches')
    const caughtUp = performance.now() - answered
    await service.quiet()
    const floorRate = (await measure(floorUrl, 'none')).perSecond
    if (round === 0) continue
    behindMs.push(caughtUp)
    ours.push(rate)
    theirs.push(floorRate)
  }
  await Promise.all([service.stop(), floor.stop(), load.stop(), simulator.stop()])
  bench.say(`batches: views had caught up ${(median(behindMs) / 1000).toFixed(1)} s after the last answer (target 5 s)`)
  const rate = { ours: median(ours), floor: median(theirs) }
  return [
    {
      name: `Batch admission, ${BATCHES} full batches, every contact new: messages`,
      ours: perSecond(rate.ours),
      floor: perSecond(rate.floor),
      ratio: rate.ours / rate.floor,
      target: '≥ 20,000/s, ≥ 0.6'
    }
  ]
}
