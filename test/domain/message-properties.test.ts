import fc from 'fast-check'
import t from 'tap'
import { isRejection } from '../../src/domain/event.ts'
import { type DispatchAnswer, type Message, type MessageCommand, message } from '../../src/domain/message.ts'
import type { MessageEvent, MessageState, ReportStatus } from '../../src/domain/message-events.ts'
import type { MessageReceived } from '../../src/domain/record.ts'
import { fold } from '../support/decider.ts'
import { at, id, mustBeWritable } from '../support/domain.ts'
import { answers, byProvider, byUs, CHANNEL, CONTACT, happened, INDEX, queue } from './message-fixtures.ts'

/** The table of decisions §3, copied by hand: where one command may lead from each state. */
const ALLOWED: Record<MessageState, readonly MessageState[]> = {
  none: ['queued'],
  queued: ['dispatching', 'failed'],
  dispatching: ['sent', 'delivered', 'read', 'retrying', 'failed', 'indeterminate'],
  retrying: ['dispatching', 'sent', 'delivered', 'read', 'failed'],
  indeterminate: ['sent', 'delivered', 'read', 'retrying', 'failed'],
  sent: ['delivered', 'read', 'failed'],
  delivered: ['read', 'failed'],
  read: [],
  failed: ['sent', 'delivered', 'read']
}
const PROOF_IS_BELIEVED = ['dispatch_indeterminate', 'retries_exhausted']

type Step = (second: number, state: Message) => MessageCommand
const step = (run: (at: string, state: Message) => MessageCommand): fc.Arbitrary<Step> =>
  fc.constant((second, state) => run(at(second), state))

const someAnswer: fc.Arbitrary<DispatchAnswer> = fc.constantFrom<DispatchAnswer>(
  answers.sent,
  answers.refused,
  answers.retry(),
  answers.retry(2),
  answers.slowRecipient,
  answers.trouble,
  answers.unknown
)
const someReport = fc.record({
  status: fc.constantFrom<ReportStatus>('sent', 'delivered', 'read', 'failed'),
  code: fc.constantFrom(null, 'provider_rejected', 'retries_exhausted'),
  reactionCode: fc.constantFrom(null, 'invalid_recipient'),
  providerCode: fc.constantFrom(null, '131026'),
  providerAt: fc.constantFrom(null, at(1), at(2)),
  providerIdIndex: fc.constantFrom(null, INDEX),
  secrets: fc.constantFrom(null, { providerId: 'provider-1' })
})
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(queue(), queue(2000)).map(command => () => command) },
  { weight: 4, arbitrary: step((at, _state) => ({ type: 'StartDispatch', at, dispatchId: `d-${at}` })) },
  {
    weight: 5,
    arbitrary: fc
      .tuple(someAnswer, fc.constantFrom(0, 0, 0, 1))
      .map(([answer, ago]) => (second: number, { attempts }: Message) => {
        const attempt = Math.max(1, attempts - ago)
        return { type: 'RecordAnswer', at: at(second), attempt, answer } as const
      })
  },
  {
    weight: 4,
    arbitrary: fc.tuple(someReport, fc.constantFrom(CHANNEL, CHANNEL, CHANNEL, id('ch', 'b'))).map(
      ([report, channelId]) =>
        (second: number) =>
          ({ type: 'RecordReport', at: at(second), channelId, report }) as const
    )
  },
  {
    weight: 1,
    arbitrary: step((when, { attempts }) => ({
      type: 'MarkIndeterminate',
      at: when,
      attempt: Math.max(1, attempts),
      timeoutAt: at(900)
    }))
  },
  { weight: 1, arbitrary: step(at => ({ type: 'TimeOut', at })) },
  { weight: 1, arbitrary: step(at => ({ type: 'FailWaiting', at, code: 'contact_erased' })) },
  { weight: 1, arbitrary: step(at => ({ type: 'Renotify', at })) }
)
/** Most lives begin with admission and a dispatch, so that the rest of the table is reached. */
const lives = fc.tuple(fc.boolean(), fc.array(steps, { maxLength: 24 }))

type Life = { readonly state: Message; readonly events: readonly MessageEvent[] }

/** Runs the commands, a hundred seconds apart; `seen` hears of every state before and after. */
function live([born, rest]: [boolean, readonly Step[]], seen: (before: Message, after: Message) => void): Life {
  const begin: Step[] = born
    ? [() => queue(), (second: number) => ({ type: 'StartDispatch', at: at(second), dispatchId: 'd' }) as const]
    : []
  let state = message.initial
  const events: MessageEvent[] = []
  for (const [index, command] of [...begin, ...rest].entries()) {
    const decision = message.decide(state, command(index * 100, state))
    if (isRejection(decision) || decision.length === 0) continue
    const after = fold(message, decision, state)
    seen(state, after)
    events.push(...decision)
    state = after
  }
  return { state, events }
}

function mustBeAllowed(before: Message, after: Message): void {
  if (before.state === after.state) return
  if (!ALLOWED[before.state].includes(after.state)) throw new Error(`${before.state} → ${after.state}`)
  if (before.state === 'failed' && !PROOF_IS_BELIEVED.includes(before.failureCode ?? ''))
    throw new Error(`failed with ${before.failureCode} → ${after.state}`)
}

function mustBeSound(state: Message): void {
  if (state.attempts < 0) throw new Error('negative attempts')
  if (state.retryAt !== null && state.state !== 'retrying') throw new Error(`${state.state} has a retry time`)
  if (state.timeoutAt !== null && state.state !== 'indeterminate') throw new Error(`${state.state} has a deadline`)
  if ((state.failureCode !== null) !== (state.state === 'failed')) throw new Error(`${state.state}: failure code`)
  const known = ['sent', 'delivered', 'read'].includes(state.state)
  if (known && !state.accepted) throw new Error(`${state.state} without an acceptance on record`)
  if (known && state.attempts === 0) throw new Error(`${state.state} without a dispatch`)
}

t.test('no sequence of commands and reports leaves the state table', async t => {
  const reached = new Set<string>()
  fc.assert(
    fc.property(lives, life => {
      const { events } = live(life, (before, after) => {
        mustBeAllowed(before, after)
        mustBeSound(after)
        reached.add(`${before.state} → ${after.state}`)
      })
      if (events.filter(({ type }) => type === 'MessageSent').length > 1) throw new Error('sent twice')
      for (const event of events) mustBeWritable(event)
    }),
    { numRuns: 3000, seed: 20240501 }
  )
  for (const [from, targets] of Object.entries(ALLOWED))
    for (const to of targets) t.ok(reached.has(`${from} → ${to}`), `${from} → ${to} was reached`)
})

t.test('the same history is the same state, also when it is read back without its sealed parts', async t => {
  fc.assert(
    fc.property(lives, life => {
      const { state, events } = live(life, () => {})
      const again = live(life, () => {})
      const stored = events.map(({ sealed: _sealed, ...rest }) => JSON.parse(JSON.stringify(rest)) as MessageEvent)
      const folded = JSON.stringify(fold(message, stored))
      return folded === JSON.stringify(state) && JSON.stringify(again.events) === JSON.stringify(events)
    }),
    { numRuns: 500, seed: 20240501 }
  )
  t.pass()
})

t.test('evolve takes every event in every state', async t => {
  const received: MessageReceived = {
    type: 'MessageReceived',
    at: at(0),
    data: {
      messageId: id('msg', 'm'),
      tenantId: id('tn', 't'),
      channelId: CHANNEL,
      channelKind: 'official',
      contactId: CONTACT,
      contentKind: 'text',
      providerIdIndex: INDEX
    }
  }
  const { queued, started, sent, proven, learned, retry, trouble, unknown, delivered, read, failed, noted } = happened
  const renotified: MessageEvent = { type: 'MessageRenotifyRequested', at: at(9), data: { status: 'sent' } }
  const events = [
    ...[queued(), started(1), sent(2), proven(2), learned(2), retry(2), trouble(2), unknown(2), delivered(3)],
    ...[read(4), failed(5, byUs('message_expired')), failed(5, byProvider('provider_rejected'))],
    ...[noted(6, 'sent', 'ok'), renotified, received as unknown as MessageEvent]
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...events), { maxLength: 12 }), history => {
      const { state } = fold(message, history)
      return state in ALLOWED
    }),
    { numRuns: 500 }
  )
  t.equal(
    fold(message, [received as unknown as MessageEvent]).state,
    'none',
    'an inbound message is not an outbound one'
  )
})
