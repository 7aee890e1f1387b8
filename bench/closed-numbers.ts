/** Numbers whose queues stand still although admission goes on: the platform has taken their token back. */
import { join } from 'node:path'
import type { Bench } from './main.ts'
import { type Program, startProgram } from './program.ts'
import { type BenchedService, startService, until } from './service.ts'
import type { StartedSimulator } from './simulator.ts'
import { ACCESS_TOKEN, TEXT } from './simulator-world.ts'

const CLOSED_MS = 10_000

/** The channel of a path to send on. */
export const channelOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

export async function setToken(simulator: StartedSimulator, token: string, state: 'valid' | 'revoked'): Promise<void> {
  const body = JSON.stringify({ token, wabas: 'all', state })
  const answer = await fetch(`${simulator.url}/_control/tokens`, { method: 'POST', body })
  if (!answer.ok) throw new Error(`the simulator took no token: ${await answer.text()}`)
}

/** The first send of each number finds out; from then on its queue waits for better credentials. `run` tells runs apart. */
export async function closeNumbers(service: BenchedService, paths: readonly string[], run: string): Promise<void> {
  const content = { kind: 'text', text: TEXT }
  for (const [index, path] of paths.entries())
    await service.call('POST', path, { to: `55118${index + 1e8}`, content, idempotencyKey: `closes ${run} ${index}` })
  const isClosed = async (path: string): Promise<boolean> =>
    (await service.call<{ lastError: string | null }>('GET', channelOf(path))).lastError !== null
  for (const path of paths)
    if (!(await until(() => isClosed(path), CLOSED_MS))) throw new Error('a number could not be closed')
}

export type ClosedNumber = { readonly service: BenchedService; readonly path: string; readonly simulator: Program }

/** A service with one number that stays closed, so that nothing but admission is measured. */
export async function startClosedNumber(bench: Bench, name: string): Promise<ClosedNumber> {
  const simulator = startProgram('simulator')
  const started = await simulator.ask<StartedSimulator>({ kind: 'start', numbers: 1, statuses: false })
  const service = await startService({ ...bench, dataDir: join(bench.folder, name), simulator: started, name })
  const [path = ''] = await service.createChannels(1)
  await setToken(started, ACCESS_TOKEN, 'revoked')
  await closeNumbers(service, [path], name)
  return { service, path, simulator }
}
