/**
 * Appends to EventStoreDB through our log beside bare unary calls of the same client with the same deadlines, expectations
 * and events, against the double in a process of its own. Both wait for every answer; 64 are under way at a time.
 * Alone: `node dist/bench/eventstore.js`.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client'
import { MAX_APPENDS_AT_ONCE, openEventStoreLog } from '../src/log/eventstore/home.ts'
import type { NewEvent } from '../src/log/port.ts'
import { median } from './statistics.ts'

export type EventStoreFigure = {
  readonly name: string
  readonly ours: number
  readonly floor: number
  readonly unit: string
}

const STREAMS = 250
const EVENTS_PER_STREAM = 4
const ROUNDS = 15
const DEADLINE_MS = 30_000

/** What is compiled on the way is not measured. */
const WARM_UP_ROUNDS = 3

type Rate = { readonly perSecond: number; readonly perCpuSecond: number }

/** Makes the appends of one stream, one after the other. */
type WriteStream = (stream: string) => Promise<void>

export async function eventstore(): Promise<readonly EventStoreFigure[]> {
  const server = await startServer()
  const ours = await throughLog(server.url)
  const floor = bare(server.url)
  const runs: { readonly ours: Rate; readonly floor: Rate }[] = []
  // Short rounds by turns, so that whatever else the machine does meets both.
  for (let round = 0; round < ROUNDS + WARM_UP_ROUNDS; round++)
    runs.push({ floor: await rateOf(floor.write), ours: await rateOf(ours.write) })
  await Promise.all([ours.close(), floor.close()])
  server.stop()
  const measured = runs.slice(WARM_UP_ROUNDS)
  const row = (name: string, of: keyof Rate, unit: string): EventStoreFigure => ({
    name: `EventStoreDB: ${name}`,
    ours: median(measured.map(run => run.ours[of])),
    floor: median(measured.map(run => run.floor[of])),
    unit
  })
  return [
    row(`appends, ${MAX_APPENDS_AT_ONCE} under way`, 'perSecond', 'appends/s'),
    row('appends by the client’s processor time', 'perCpuSecond', 'appends/CPU s')
  ]
}

async function rateOf(write: WriteStream): Promise<Rate> {
  const names = Array.from({ length: STREAMS }, () => `message-${randomUUID()}`)
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  const work = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) await write(name)
  }
  await Promise.all(Array.from({ length: MAX_APPENDS_AT_ONCE }, work))
  const { user, system } = process.cpuUsage(cpuBefore)
  const count = STREAMS * EVENTS_PER_STREAM
  return {
    perSecond: (count * 1_000) / (performance.now() - began),
    perCpuSecond: (count * 1_000_000) / (user + system)
  }
}

/** As large as an event of a message: what is sealed in it makes the most of it. */
function bodyOf(stream: string) {
  const data = { messageId: stream, channelId: 'ch_01hx0000000000000000000000', attempt: 1 }
  return { v: 1, data, sealed: 'c'.repeat(320) }
}

function metaOf(index: number) {
  return { tenant: 'tn_01hx', trace: `trace-${index}`, cause: null, source: 'api', at: '2024-05-01T00:00:00.000Z' }
}

async function throughLog(url: string) {
  const log = await openEventStoreLog({ url, streamPrefix: 'ours-', deadlineMs: DEADLINE_MS, waitMs: DEADLINE_MS })
  const write: WriteStream = async stream => {
    for (let index = 0; index < EVENTS_PER_STREAM; index++) {
      const event: NewEvent = {
        id: `evt_${stream}-${index}`,
        type: 'MessageSent',
        body: JSON.stringify(bodyOf(stream)),
        meta: JSON.stringify(metaOf(index))
      }
      const { kind } = await log.append(stream, index - 1, [event])
      if (kind !== 'appended') throw new Error(kind)
    }
  }
  return { write, close: log.close }
}

function bare(url: string) {
  const client = EventStoreDBClient.connectionString(url)
  // With credentials of its own a call is unary; they are not sent without TLS.
  const call = { deadline: DEADLINE_MS, credentials: { username: 'bench', password: 'bench' } }
  const write: WriteStream = async stream => {
    for (let index = 0; index < EVENTS_PER_STREAM; index++) {
      const metadata = { ...metaOf(index), id: `evt_${stream}-${index}`, hash: 'f'.repeat(64), $correlationId: 'trace' }
      const event = jsonEvent({ id: randomUUID(), type: 'MessageSent', data: bodyOf(stream), metadata })
      const expectedRevision = index === 0 ? NO_STREAM : BigInt(index - 1)
      await client.appendToStream(`bare-${stream}`, event, { ...call, expectedRevision })
    }
  }
  return { write, close: client.dispose }
}

async function startServer() {
  const path = fileURLToPath(new URL('../test/support/eventstore/server.js', import.meta.url))
  const child = spawn(process.execPath, [path], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [, port] = /listening (\d+)/.exec(String((await once(child.stdout, 'data'))[0])) ?? []
  return { url: `esdb://127.0.0.1:${port}?tls=false`, stop: () => void child.kill() }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const { name, ours, floor, unit } of await eventstore())
    process.stdout.write(
      `${name}: ${Math.round(ours)} ${unit}, bare calls ${Math.round(floor)}, ratio ${(ours / floor).toFixed(2)}\n`
    )
