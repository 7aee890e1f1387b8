/** The timeline of a message (decisions §3). Stored as JSON tuples joined by commas, so that an entry is added without parsing. */
import type { MessageEvent } from '../../domain/message-events.ts'
import type { RecordedOf, TimelineEntry } from '../port.ts'

type Outcome = TimelineEntry['outcome']
type Tuple = readonly [
  state: string,
  outcome: Outcome,
  code: string | null,
  brokerTimestamp: string,
  providerTimestamp: string | null
]

/** The entries that the event adds, in stored form; empty when it adds none. */
export function entriesOf(event: RecordedOf<MessageEvent>): string {
  switch (event.type) {
    case 'MessageQueued':
      return entry(event, 'queued', 'accepted', null)
    case 'MessageDispatchStarted':
      return entry(event, 'dispatching', 'ok', null)
    case 'MessageSent':
      return entry(event, 'sent', 'ok', null)
    case 'MessageRetryScheduled':
      return entry(event, 'retrying', 'retry', event.data.code)
    case 'MessageDispatchUnknown':
      return entry(event, 'indeterminate', 'unknown', event.data.code)
    case 'MessageDelivered':
      return entry(event, 'delivered', 'ok', null)
    case 'MessageRead':
      return entry(event, 'read', 'ok', null)
    case 'MessageFailed': {
      const { code, cause } = event.data
      const failed = entry(event, 'failed', 'failed', code)
      return cause === undefined ? failed : `${entry(event, 'dispatching', 'failed', cause)},${failed}`
    }
    case 'MessageReportNoted':
      return entry(event, event.data.status, event.data.outcome, event.data.code ?? null)
    case 'MessageProviderIdLearned':
    case 'MessageRenotifyRequested':
      return ''
  }
}

function entry(event: RecordedOf<MessageEvent>, state: string, outcome: Outcome, code: string | null): string {
  const tuple: Tuple = [state, outcome, code, event.at, event.providerAt ?? null]
  return JSON.stringify(tuple)
}

export function parseTimeline(stored: string): readonly TimelineEntry[] {
  const tuples = JSON.parse(`[${stored}]`) as readonly Tuple[]
  return tuples.map(([state, outcome, code, brokerTimestamp, providerTimestamp]) => ({
    state,
    outcome,
    detail: { code },
    brokerTimestamp,
    providerTimestamp
  }))
}
