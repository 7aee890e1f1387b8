/**
 * Outcomes of webhook deliveries, many in one `DeliveriesSettled`: at most 256, written within 20 ms.
 * Stream `outcomes-<shard>-<yyyymmdd>`; this process is its only writer, so a conflict only tells the revision to go on from.
 */
import type { DeliveriesSettled, DeliveryOutcome } from '../domain/record.ts'
import { NO_STREAM } from '../log/port.ts'
import { type Core, now, ownCommand, record } from './core.ts'

export type OutcomeRecorder = {
  /** Resolves with the position at which the outcome is durable. */
  add(outcome: DeliveryOutcome): Promise<number>
  flush(): Promise<void>
}

const OUTCOMES_MAX = 256
const FLUSH_MS = 20
const RETRY_MS = 250

type Waiting = { readonly outcome: DeliveryOutcome; readonly resolve: (position: number) => void }

export function createOutcomeRecorder(core: Core, shard: string): OutcomeRecorder {
  let waiting: Waiting[] = []
  let timer: (() => void) | null = null
  let writing: Promise<void> = Promise.resolve()
  let stream = ''
  let revision = NO_STREAM

  async function write(batch: readonly Waiting[]): Promise<void> {
    const at = now(core)
    const today = `outcomes-${shard}-${at.slice(0, 10).replaceAll('-', '')}`
    if (today !== stream) {
      stream = today
      revision = NO_STREAM
    }
    const event: DeliveriesSettled = {
      type: 'DeliveriesSettled',
      at,
      data: { outcomes: batch.map(entry => entry.outcome) }
    }
    const context = ownCommand(core, null, 'deliverer')
    for (;;) {
      const result = await record(core, stream, revision, [event], context).catch(() => null)
      if (result?.kind === 'appended') {
        revision = result.revision
        for (const entry of batch) entry.resolve(result.position)
        return
      }
      if (result?.kind === 'conflict') revision = result.revision
      // The receiver has the event: its outcome waits until the log is back.
      else await new Promise<void>(resolve => core.clock.after(RETRY_MS, resolve))
    }
  }

  function flush(): Promise<void> {
    timer?.()
    timer = null
    while (waiting.length > 0) {
      const batch = waiting.slice(0, OUTCOMES_MAX)
      waiting = waiting.slice(OUTCOMES_MAX)
      writing = writing.then(() => write(batch))
    }
    return writing
  }

  return {
    add(outcome) {
      return new Promise(resolve => {
        waiting.push({ outcome, resolve })
        if (waiting.length >= OUTCOMES_MAX) void flush()
        else timer ??= core.clock.after(FLUSH_MS, () => void flush())
      })
    },
    flush
  }
}
