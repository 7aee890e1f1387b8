import t from 'tap'
import { type MessageCommand, message } from '../../src/domain/message.ts'
import type { MessageEvent } from '../../src/domain/message-events.ts'
import { checkRows, fold, type Row } from '../support/decider.ts'
import { at, id } from '../support/domain.ts'
import { byProvider, CHANNEL, happened, histories, report } from './message-fixtures.ts'

type Rows = readonly Row<MessageCommand, MessageEvent>[]
const { queued, proven, trouble, delivered, read, failed, noted } = happened
const { dispatching, retrying, indeterminate, accepted, timedOut, exhausted } = histories
const REPEATED = ['Renotify'] as const
const reaction = accepted.map(event =>
  event.type === 'MessageQueued' ? { ...event, data: { ...event.data, contentKind: 'reaction' } } : event
)

const inDoubt: Rows = [dispatching, retrying, indeterminate].flatMap(given => {
  const { state } = fold(message, given)
  return [
    {
      line: `${state} → sent: report`,
      given,
      when: report(5, 'sent', { providerAt: at(4) }),
      expect: [proven(5, 1, at(4))]
    },
    {
      line: `${state} → delivered: acceptance first`,
      given,
      when: report(5, 'delivered', { providerAt: at(4) }),
      expect: [proven(5), delivered(5, at(4))]
    },
    { line: `${state} → read: acceptance first`, given, when: report(5, 'read'), expect: [proven(5), read(5)] },
    {
      line: `${state} → failed: acceptance first`,
      given,
      when: report(5, 'failed', { code: 'provider_rejected' }),
      expect: [proven(5), failed(5, byProvider('provider_rejected'))]
    }
  ]
})

const late: Rows = [timedOut, exhausted].flatMap(given => {
  const code = fold(message, given).failureCode
  return [
    { line: `failed ${code} → sent: late proof`, given, when: report(700, 'sent'), expect: [proven(700)] },
    {
      line: `failed ${code} → delivered: late proof`,
      given,
      when: report(700, 'delivered'),
      expect: [proven(700), delivered(700)]
    },
    { line: `failed ${code} → read: late proof`, given, when: report(700, 'read'), expect: [proven(700), read(700)] },
    {
      line: `failed ${code}: stays failed with another failure`,
      given,
      when: report(700, 'failed', { code: 'provider_rejected' }),
      expect: [noted(700, 'failed', 'late', { data: { status: 'failed', outcome: 'late', code: 'provider_rejected' } })]
    }
  ]
})

const lots = Array.from({ length: 40 }, (_, second) => noted(second, 'sent', 'late', { providerAt: at(second) }))
const reported: Rows = [
  {
    line: 'queued: nothing went out, nothing is reported',
    given: [queued()],
    when: report(5, 'delivered'),
    expect: { rejected: 'not_dispatched' }
  },
  {
    line: "another channel's report",
    given: accepted,
    when: { ...report(5, 'read'), channelId: id('ch', 'b') } as MessageCommand,
    expect: { rejected: 'resource_not_found' }
  },
  {
    line: "sent: the platform's own first sent is ok",
    given: accepted,
    when: report(5, 'sent', { providerAt: at(3) }),
    expect: [noted(5, 'sent', 'ok', { providerAt: at(3) })]
  },
  {
    line: 'sent: a second one is late',
    given: [...accepted, noted(5, 'sent', 'ok', { providerAt: at(3) })],
    when: report(6, 'sent', { providerAt: at(4) }),
    expect: [noted(6, 'sent', 'late', { providerAt: at(4) })]
  },
  {
    line: 'sent: an exact repeat is dropped',
    given: [...accepted, noted(5, 'sent', 'ok', { providerAt: at(3) })],
    when: report(6, 'sent', { providerAt: at(3) }),
    expect: []
  },
  {
    line: 'sent → delivered',
    given: accepted,
    when: report(5, 'delivered', { providerAt: at(3) }),
    expect: [delivered(5, at(3))]
  },
  { line: 'sent → read: without delivered', given: accepted, when: report(5, 'read'), expect: [read(5)] },
  {
    line: 'sent → failed',
    given: accepted,
    when: report(5, 'failed'),
    expect: [failed(5, byProvider('provider_rejected'))]
  },
  {
    line: 'sent → failed: a reaction whose target the platform does not know',
    given: reaction,
    when: report(5, 'failed', { code: 'provider_rejected', reactionCode: 'invalid_recipient' }),
    expect: [failed(5, byProvider('invalid_recipient'))]
  },
  {
    line: 'sent → failed: no reaction, the same report',
    given: accepted,
    when: report(5, 'failed', { code: 'provider_rejected', reactionCode: 'invalid_recipient' }),
    expect: [failed(5, byProvider('provider_rejected'))]
  },
  { line: 'delivered → read', given: [...accepted, delivered(3)], when: report(5, 'read'), expect: [read(5)] },
  {
    line: 'delivered → failed',
    given: [...accepted, delivered(3)],
    when: report(5, 'failed', { code: 'media_rejected' }),
    expect: [failed(5, byProvider('media_rejected'))]
  },
  {
    line: 'delivered: an exact repeat is dropped',
    given: [...accepted, delivered(3, at(2))],
    when: report(5, 'delivered', { providerAt: at(2) }),
    expect: []
  },
  {
    line: 'delivered: the sent that comes after it is late',
    given: [...dispatching, proven(2), delivered(2, at(1))],
    when: report(5, 'sent', { providerAt: at(1) }),
    expect: [noted(5, 'sent', 'late', { providerAt: at(1) })]
  },
  {
    line: 'delivered: the first sent report is late, although the answer had accepted',
    given: [...accepted, delivered(3)],
    when: report(5, 'sent', { providerAt: at(2) }),
    expect: [noted(5, 'sent', 'late', { providerAt: at(2) })]
  },
  {
    line: 'read: delivered is late',
    given: [...accepted, read(3)],
    when: report(5, 'delivered'),
    expect: [noted(5, 'delivered', 'late')]
  },
  {
    line: 'read: failed is late',
    given: [...accepted, read(3)],
    when: report(5, 'failed'),
    expect: [noted(5, 'failed', 'late')]
  },
  {
    line: 'failed: an exact repeat without a code is dropped',
    given: [...accepted, failed(3, byProvider('provider_rejected'))],
    when: report(5, 'failed'),
    expect: []
  },
  {
    line: 'failed by refusal: delivered is late',
    given: [...dispatching, failed(2, byProvider('provider_rejected'))],
    when: report(5, 'delivered'),
    expect: [noted(5, 'delivered', 'late')]
  },
  {
    line: 'past the limit nothing is noted',
    given: [...accepted, ...lots],
    when: report(50, 'sent', { providerAt: at(45) }),
    expect: []
  },
  {
    line: 'past the limit the state still moves',
    given: [...accepted, ...lots],
    when: report(50, 'delivered'),
    expect: [delivered(50)]
  },
  {
    line: 'retrying after channel trouble → sent: the attempt that was given back counts',
    given: [...dispatching, trouble(2)],
    when: report(5, 'sent'),
    expect: [proven(5, 1)]
  }
]

const renotify: Rows = [
  ...[accepted, [...accepted, delivered(3)], [...accepted, read(3)], timedOut].map(given => {
    const { state } = fold(message, given)
    return {
      line: `renotify of ${state}`,
      given,
      when: { type: 'Renotify', at: at(9) } as const,
      expect: [{ type: 'MessageRenotifyRequested', at: at(9), data: { status: state } } as MessageEvent]
    }
  }),
  ...[[queued()], dispatching, retrying, indeterminate].map(given => ({
    line: `renotify of ${fold(message, given).state}: no delivery status`,
    given,
    when: { type: 'Renotify', at: at(9) } as const,
    expect: { rejected: 'validation_failed' }
  }))
]

t.test('a report on a message in doubt', async t => checkRows(t, message, inDoubt))
t.test('late proof', async t => checkRows(t, message, late))
t.test('a report on an accepted message', async t => checkRows(t, message, reported))
t.test('renotify', async t => checkRows(t, message, renotify, REPEATED))

t.test('an attempt that was given back is counted when it is proven', async t => {
  const state = fold(message, [...dispatching, trouble(2), proven(5)])
  t.equal(state.attempts, 1)
  t.equal(state.channelId, CHANNEL)
})
