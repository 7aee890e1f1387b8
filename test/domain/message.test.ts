import t from 'tap'
import { type MessageCommand, message } from '../../src/domain/message.ts'
import type { MessageEvent } from '../../src/domain/message-events.ts'
import { checkRows, fold, type Row } from '../support/decider.ts'
import { at } from '../support/domain.ts'
import { answer, answers, byProvider, byUs, happened, histories, queue, start } from './message-fixtures.ts'

type Rows = readonly Row<MessageCommand, MessageEvent>[]
const { queued, started, sent, proven, learned, retry, trouble, unknown, failed } = happened
const { dispatching, retrying, indeterminate, accepted, timedOut } = histories
const waitingFailure = (second: number, code: string): MessageCommand => ({ type: 'FailWaiting', at: at(second), code })
const timeOut = (second: number): MessageCommand => ({ type: 'TimeOut', at: at(second) })

const admission: Rows = [
  { line: '– → queued: admitted', given: [], when: queue(), expect: [queued()] },
  { line: '– → queued: with a ttl', given: [], when: queue(60), expect: [queued(at(60))] },
  { line: 'queued again: the first message stands', given: [queued()], when: queue(60), expect: [] },
  {
    line: 'nothing happens to a message that is none',
    given: [],
    when: start(1),
    expect: { rejected: 'resource_not_found' }
  }
]

const waiting: Rows = [
  { line: 'queued → dispatching: its turn', given: [queued()], when: start(1), expect: [started(1)] },
  { line: 'retrying → dispatching: its turn again', given: retrying, when: start(100), expect: [started(100, 2)] },
  { line: 'retrying: not before its wait is over', given: retrying, when: start(99), expect: { rejected: 'not_due' } },
  {
    line: 'queued → failed: message_expired, right before the dispatch',
    given: [queued(at(60))],
    when: start(60),
    expect: [failed(60, byUs('message_expired'))]
  },
  {
    line: 'queued: one millisecond of ttl left',
    given: [queued(at(60))],
    when: start(59.999),
    expect: [started(59.999)]
  },
  { line: 'dispatching: started once only', given: dispatching, when: start(2), expect: { rejected: 'not_waiting' } },
  ...[
    'contact_erased',
    'channel_restricted',
    'message_expired',
    'invalid_recipient',
    'template_call_invalid',
    'recipient_opted_out',
    'channel_deleted'
  ].flatMap(code => [
    {
      line: `queued → failed: ${code}`,
      given: [queued()],
      when: waitingFailure(5, code),
      expect: [failed(5, byUs(code))]
    },
    {
      line: `retrying → failed: ${code}`,
      given: retrying,
      when: waitingFailure(5, code),
      expect: [failed(5, byUs(code))]
    }
  ]),
  ...[dispatching, indeterminate, accepted, timedOut].map(given => ({
    line: `${fold(message, given).state}: does not fail as a waiting one`,
    given,
    when: waitingFailure(5, 'contact_erased'),
    expect: { rejected: 'not_waiting' }
  })),
  { line: 'sent: is not dispatched', given: accepted, when: start(5), expect: { rejected: 'not_waiting' } }
]

const answered: Rows = [
  {
    line: 'dispatching → sent: the provider accepted',
    given: dispatching,
    when: answer(2, 1, answers.sent),
    expect: [sent(2)]
  },
  {
    line: 'dispatching → retrying: transient, attempts left',
    given: dispatching,
    when: answer(2, 1, answers.retry()),
    expect: [retry(2)]
  },
  {
    line: 'dispatching → retrying: only this recipient is slowed down',
    given: dispatching,
    when: answer(2, 1, answers.slowRecipient),
    expect: [
      {
        type: 'MessageRetryScheduled',
        at: at(2),
        data: { attempt: 1, code: 'provider_busy', retryAt: at(100), scope: 'recipient' }
      }
    ]
  },
  {
    line: 'dispatching → retrying: the channel is the trouble',
    given: dispatching,
    when: answer(2, 1, answers.trouble),
    expect: [trouble(2)]
  },
  {
    line: 'channel trouble gives the attempt back',
    given: [...dispatching, trouble(2)],
    when: start(100),
    expect: [started(100, 1)]
  },
  {
    line: 'dispatching → failed: terminal error',
    given: dispatching,
    when: answer(2, 1, answers.refused),
    expect: [failed(2, { ...byProvider('provider_rejected'), providerCode: '131026' })]
  },
  {
    line: 'dispatching → failed: retries_exhausted keeps the last code',
    given: dispatching,
    when: answer(2, 1, answers.retry(1)),
    expect: [failed(2, { ...byProvider('retries_exhausted'), cause: 'provider_busy', providerCode: '131016' })]
  },
  {
    line: 'dispatching → indeterminate: no answer came back',
    given: dispatching,
    when: answer(2, 1, answers.unknown),
    expect: [unknown(2)]
  },
  {
    line: 'dispatching → indeterminate: the process died',
    given: dispatching,
    when: { type: 'MarkIndeterminate', at: at(2), attempt: 1, timeoutAt: at(600) },
    expect: [unknown(2, 1, 'process_died')]
  },
  {
    line: 'retrying: is not marked indeterminate',
    given: retrying,
    when: { type: 'MarkIndeterminate', at: at(3), attempt: 1, timeoutAt: at(600) },
    expect: []
  },
  {
    line: 'dispatching: another attempt is not marked indeterminate',
    given: [...retrying, started(100, 2)],
    when: { type: 'MarkIndeterminate', at: at(101), attempt: 1, timeoutAt: at(600) },
    expect: []
  },
  {
    line: 'dispatching: an older attempt proves nothing',
    given: [...retrying, started(100, 2)],
    when: answer(101, 1, answers.refused),
    expect: []
  },
  {
    line: 'indeterminate → failed: its late answer refuses',
    given: indeterminate,
    when: answer(3, 1, answers.refused),
    expect: [failed(3, { ...byProvider('provider_rejected'), providerCode: '131026' })]
  },
  {
    line: 'indeterminate → retrying: its late answer refuses for now',
    given: indeterminate,
    when: answer(3, 1, answers.retry()),
    expect: [retry(3)]
  },
  {
    line: 'indeterminate → sent: its late answer accepts',
    given: indeterminate,
    when: answer(3, 1, answers.sent),
    expect: [sent(3)]
  },
  { line: 'indeterminate: the deadline stays', given: indeterminate, when: answer(3, 1, answers.unknown), expect: [] },
  {
    line: 'indeterminate → failed: dispatch_indeterminate',
    given: indeterminate,
    when: timeOut(600),
    expect: [failed(600, byUs('dispatch_indeterminate'))]
  },
  { line: 'indeterminate: not before its deadline', given: indeterminate, when: timeOut(599), expect: [] },
  { line: 'sent: nothing is left to time out', given: [...indeterminate, sent(3)], when: timeOut(600), expect: [] },
  {
    line: 'failed dispatch_indeterminate → sent: a very late answer',
    given: timedOut,
    when: answer(700, 1, answers.sent),
    expect: [sent(700)]
  },
  {
    line: 'failed by refusal: a late yes changes nothing',
    given: [...dispatching, failed(2, byProvider('provider_rejected'))],
    when: answer(3, 1, answers.sent),
    expect: []
  },
  {
    line: 'after a report: the late answer only adds the provider id',
    given: [...dispatching, proven(2)],
    when: answer(3, 1, answers.sent),
    expect: [learned(3)]
  },
  {
    line: 'after a report: the late refusal changes nothing',
    given: [...dispatching, proven(2)],
    when: answer(3, 1, answers.refused),
    expect: []
  }
]

t.test('admission', async t => checkRows(t, message, admission))
t.test('waiting', async t => checkRows(t, message, waiting))
t.test('the answer of a dispatch', async t => checkRows(t, message, answered))
