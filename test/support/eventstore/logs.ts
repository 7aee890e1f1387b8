/** Doubles and logs on them that end with their test. */
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
  const log = await openEventStoreLog({ url: double.url, streamPrefix: 'test-', ...options })
  t.teardown(() => log.close())
  return log
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
