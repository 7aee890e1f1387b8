/** The timeline of a message (decisions §3). Stored as JSON tuples joined by commas, so that an entry is added without parsing. */
import type { MessageEvent, MessageState } from '../../domain/message-events.ts'
import type { RecordedOf, TimelineEntry } from '../port.ts'
import { codesOf, messageStates } from './codes.ts'
import { toIso } from './time.ts'

type Outcome = TimelineEntry['outcome']
type State = Exclude<MessageState, 'none'>
type Tuple = readonly [
  state: number,
  outcome: number,
  code: string | null,
  brokerMs: number,
  providerTimestamp: string | null
]

const outcomes = codesOf<Outcome>(['accepted', 'ok', 'retry', 'unknown', 'failed', 'late'])

/** The entries that the event adds, in stored form; empty when it adds none. */
export function entriesOf(event: RecordedOf<MessageEvent>, atMs: number): string {
  const entry = (state: State, outcome: Outcome, code: string | null): string =>
    `[${messageStates.code(state)},${outcomes.code(outcome)},${quoted(code)},${atMs},${quoted(event.providerAt ?? null)}]`
  switch (event.type) {
    case 'MessageQueued':
      return entry('queued', 'accepted', null)
    case 'MessageDispatchStarted':
      return entry('dispatching', 'ok', null)
    case 'MessageSent':
      return entry('sent', 'ok', null)
    case 'MessageRetryScheduled':
      return entry('retrying', 'retry', event.data.code)
    case 'MessageDispatchUnknown':
      return entry('indeterminate', 'unknown', event.data.code)
    case 'MessageDelivered':
      return entry('delivered', 'ok', null)
    case 'MessageRead':
      return entry('read', 'ok', null)
    case 'MessageFailed': {
      const { code, cause } = event.data
      const failed = entry('failed', 'failed', code)
      return cause === undefined ? failed : `${entry('dispatching', 'failed', cause)},${failed}`
    }
    case 'MessageReportNoted':
      return entry(event.data.status, event.data.outcome, event.data.code ?? null)
    case 'MessageProviderIdLearned':
    case 'MessageRenotifyRequested':
      return ''
  }
}

const quoted = (text: string | null): string => (text === null ? 'null' : JSON.stringify(text))

export function parseTimeline(stored: string): readonly TimelineEntry[] {
  const tuples = JSON.parse(`[${stored}]`) as readonly Tuple[]
  return tuples.map(([state, outcome, code, brokerMs, providerTimestamp]) => ({
    state: messageStates.word(state),
    outcome: outcomes.word(outcome),
    detail: { code },
    brokerTimestamp: toIso(brokerMs),
    providerTimestamp
  }))
}
