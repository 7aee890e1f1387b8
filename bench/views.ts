/** Commits of the log and rebuild of all views, each beside the bare work on the same rows. */
import { join } from 'node:path'
import type { HistoryOrder } from './history.ts'
import type { Bench } from './main.ts'
import { type Program, startProgram } from './program.ts'
import { median } from './statistics.ts'
import { type Figure, perSecond } from './table.ts'

const MESSAGES = 40_000
const ROUNDS = 3

export async function log(bench: Bench): Promise<readonly Figure[]> {
  const rates = await alternate(round => ({
    ours: { kind: 'write', dataDir: join(bench.folder, `log-${round}`), messages: MESSAGES, webhooks: false },
    floor: { kind: 'insert', dataDir: join(bench.folder, `rows-${round}`), messages: MESSAGES, webhooks: false }
  }))
  return [figure('Log: events in commits of 256', rates, '≥ 0.8')]
}

export async function views(bench: Bench): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const webhooks of [false, true]) {
    const dataDir = join(bench.folder, webhooks ? 'history-told' : 'history')
    const writer = startProgram('history')
    await writer.ask({ kind: 'write', dataDir, messages: MESSAGES, webhooks } satisfies HistoryOrder)
    await writer.stop()
    const rates = await alternate(() => ({ ours: { kind: 'rebuild', dataDir }, floor: { kind: 'scan', dataDir } }))
    const name = `Rebuild of all views, ${webhooks ? 'one webhook destination' : 'no webhooks'}: events`
    figures.push(figure(name, rates, '≥ 60,000/s, ≥ 0.2'))
  }
  return figures
}

type Rates = { readonly ours: number; readonly floor: number }
type Orders = { readonly ours: HistoryOrder; readonly floor: HistoryOrder }

async function alternate(ordersOf: (round: number) => Orders): Promise<Rates> {
  const ours: number[] = []
  const floor: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const orders = ordersOf(round)
    ours.push(await alone(orders.ours))
    floor.push(await alone(orders.floor))
  }
  return { ours: median(ours), floor: median(floor) }
}

/** In a new process: what ran before leaves neither memory nor compiled code behind. */
async function alone(order: HistoryOrder): Promise<number> {
  const program: Program = startProgram('history')
  const rate = await program.ask<number>(order)
  await program.stop()
  return rate
}

const figure = (name: string, { ours, floor }: Rates, target: string): Figure => ({
  name,
  ours: perSecond(ours),
  floor: perSecond(floor),
  ratio: ours / floor,
  target
})
