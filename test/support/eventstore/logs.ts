/** Doubles and logs on them that end with their test. */
import { randomUUID } from 'node:crypto'
import type { EventStoreLog, EventStoreLogOptions } from '../../../src/log/eventstore/home.ts'
import { openEventStoreLog } from '../../../src/log/eventstore/home.ts'
import { chainHash, NO_HASH } from '../../../src/log/hash-chain.ts'
import type { EventLog, RecordedEvent } from '../../../src/log/port.ts'
import type { Double, DoubleOptions } from './double.ts'
import { startDouble } from './double.ts'

type Scope = { teardown(run: () => unknown): unknown }

export async function doubleFor(t: Scope, options: DoubleOptions = {}): Promise<Double> {
  const double = await startDouble(options)
  t.teardown(() => double.close())
  return double
}

export async function logOn(
  t: Scope,
  double: Double,
  options: Partial<EventStoreLogOptions> = {}
): Promise<EventStoreLog> {
  const streamPrefix = options.streamPrefix ?? 'test-'
  noteTested(double, `$$${streamPrefix}ledgerline-log`)
  const log = await openEventStoreLog({ url: double.url, ...options, streamPrefix })
  t.teardown(() => log.close())
  return log
}

/** As if the log had held an event of the tests before: what they count and break is then the append itself. */
function noteTested({ records }: Double, stream: string): void {
  const data = new TextEncoder().encode(JSON.stringify({ ledgerlineEventVersions: { Tested: [1] } }))
  const note = { id: randomUUID(), type: '$metadata', contentType: 'application/json', data }
  if (records.read(stream, 'end', true, 1).kind === 'missing')
    records.append(stream, 'no_stream', [{ ...note, metadata: new Uint8Array() }])
}

/** Where the chain or the order of a stream breaks; null when both are whole. */
export async function breakOf(log: EventLog, stream: string): Promise<string | null> {
  let previous = NO_HASH
  let next = 0
  for await (const event of log.read(stream)) {
    if (event.revision !== next) return `revision ${event.revision} stands at ${next}`
    if (event.hash !== chainHash(previous, stream, next, event)) return `the chain breaks at ${next}`
    previous = event.hash
    next++
  }
  return null
}

/** Collects what a follower is given; `until` resolves when so many events have come. */
export function collector() {
  const events: RecordedEvent[] = []
  const waiting: { readonly count: number; readonly wake: () => void }[] = []
  return {
    events,
    ids: () => events.map(({ id }) => id),
    onPage(page: readonly RecordedEvent[]): void {
      events.push(...page)
      for (const { count, wake } of waiting) if (events.length >= count) wake()
    },
    until: (count: number): Promise<void> =>
      new Promise(resolve => {
        if (events.length >= count) resolve()
        else waiting.push({ count, wake: resolve })
      })
  }
}
