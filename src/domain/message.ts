/**
 * A message to a person: its states and moves are the table of decisions §3, and nothing else.
 * Stream: `message-msg_…`. The id is derived from the tenant's idempotency key, so the stream can exist once only.
 */
import { type Decider, providerTime, type Rejection, reject, sealedBy } from './event.ts'
import type { MessageCommand, Report } from './message-commands.ts'
import type {
  DispatchUnknown,
  Failed,
  MessageEvent,
  MessageState,
  ProviderSecrets,
  ReportNoted,
  ReportStatus,
  Sent
} from './message-events.ts'
import { evolve, failureCode, initial, type Message, reportKey } from './message-state.ts'

export type { DispatchAnswer, MessageCommand, Report } from './message-commands.ts'
export type { Message } from './message-state.ts'

/** Failures after which a late proof of acceptance is still believed (decisions §3, last row). */
const RECOVERABLE = new Set(['dispatch_indeterminate', 'retries_exhausted'])
/** States in which the request is or may be under way and acceptance is not on record. */
const IN_DOUBT: ReadonlySet<MessageState> = new Set(['dispatching', 'retrying', 'indeterminate'])
const WAITING: ReadonlySet<MessageState> = new Set(['queued', 'retrying'])
/** Distinct reports on record, past which nothing is noted; more than any platform sends for one message. */
const REPORTS_MAX = 32

const RANK: Partial<Record<MessageState, number>> = { sent: 1, delivered: 2, read: 3 }

export const isWaiting = (state: MessageState): boolean => WAITING.has(state)
export const hasDeliveryStatus = (state: MessageState): state is ReportStatus =>
  RANK[state] !== undefined || state === 'failed'

function decide(message: Message, command: MessageCommand): readonly MessageEvent[] | Rejection {
  if (command.type === 'Queue') return queue(message, command)
  if (message.state === 'none') return reject('resource_not_found')
  switch (command.type) {
    case 'StartDispatch':
      return startDispatch(message, command)
    case 'RecordAnswer':
      return recordAnswer(message, command)
    case 'MarkIndeterminate':
      if (message.state !== 'dispatching' || message.attempts !== command.attempt) return []
      return [dispatchUnknown(message, command.at, command.attempt, 'process_died', command.timeoutAt, null)]
    case 'TimeOut':
      if (message.state !== 'indeterminate' || message.timeoutAt === null || command.at < message.timeoutAt) return []
      return [failed(message, command.at, { code: 'dispatch_indeterminate', by: 'service' })]
    case 'FailWaiting':
      if (!WAITING.has(message.state)) return reject('not_waiting')
      return [failed(message, command.at, { code: command.code, by: 'service' })]
    case 'RecordReport':
      if (message.channelId !== command.channelId) return reject('resource_not_found')
      return recordReport(message, command.at, command.report)
    case 'Renotify':
      if (!hasDeliveryStatus(message.state)) return reject('validation_failed')
      return [{ type: 'MessageRenotifyRequested', at: command.at, data: { status: message.state } }]
  }
}

function queue(message: Message, command: Extract<MessageCommand, { type: 'Queue' }>): readonly MessageEvent[] {
  // The key decides: whatever the second body says, the first message stands.
  if (message.state !== 'none') return []
  const { messageId, tenantId, channelId, contactId, contentKind } = command
  const expiresAt = command.ttlSeconds === null ? {} : { expiresAt: later(command.at, command.ttlSeconds) }
  const replyTo = command.replyTo === null ? {} : { replyTo: command.replyTo }
  return [
    {
      type: 'MessageQueued',
      at: command.at,
      data: { messageId, tenantId, channelId, contactId, contentKind, ...replyTo, ...expiresAt },
      subject: contactId,
      sealed: command.secrets
    }
  ]
}

function startDispatch(
  message: Message,
  command: Extract<MessageCommand, { type: 'StartDispatch' }>
): readonly MessageEvent[] | Rejection {
  if (!WAITING.has(message.state)) return reject('not_waiting')
  if (isExpired(message, command.at)) return [failed(message, command.at, { code: 'message_expired', by: 'service' })]
  if (message.retryAt !== null && command.at < message.retryAt) return reject('not_due')
  return [
    {
      type: 'MessageDispatchStarted',
      at: command.at,
      data: { attempt: message.attempts + 1, dispatchId: command.dispatchId }
    }
  ]
}

export const isExpired = (message: Pick<Message, 'expiresAt'>, at: string): boolean =>
  message.expiresAt !== null && at >= message.expiresAt

function recordAnswer(
  message: Message,
  { at, attempt, answer }: Extract<MessageCommand, { type: 'RecordAnswer' }>
): readonly MessageEvent[] {
  if (answer.kind === 'sent') return recordAcceptance(message, at, attempt, answer.providerIdIndex, answer.secrets)
  // A refusal proves something only about the attempt that is still in doubt.
  const open = message.attempts === attempt && (message.state === 'dispatching' || message.state === 'indeterminate')
  if (!open) return []
  switch (answer.kind) {
    case 'unknown':
      if (message.state === 'indeterminate') return []
      return [dispatchUnknown(message, at, attempt, answer.code, answer.timeoutAt, answer.secrets)]
    case 'refused': {
      const { code, providerCode, secrets } = answer
      return [failed(message, at, { code, by: 'provider', ...optional({ providerCode }) }, { secrets })]
    }
    case 'channel_trouble': {
      const data = { attempt, code: answer.code, retryAt: answer.retryAt, channelTrouble: true } as const
      return [{ type: 'MessageRetryScheduled', at, data, ...sealedBy(message.contactId, answer.secrets) }]
    }
    case 'retry': {
      const { code, providerCode, secrets } = answer
      if (attempt >= answer.maxAttempts) {
        const data = { code: 'retries_exhausted', by: 'provider', cause: code, ...optional({ providerCode }) } as const
        return [failed(message, at, data, { secrets })]
      }
      const scope = answer.scope === 'recipient' ? ({ scope: 'recipient' } as const) : {}
      const data = { attempt, code, retryAt: answer.retryAt, ...scope }
      return [{ type: 'MessageRetryScheduled', at, data, ...sealedBy(message.contactId, secrets) }]
    }
  }
}

/** The send's own answer says yes, perhaps long after a report or a timeout has spoken. */
function recordAcceptance(
  message: Message,
  at: string,
  attempt: number,
  providerIdIndex: string,
  secrets: ProviderSecrets
): readonly MessageEvent[] {
  const inDoubt = IN_DOUBT.has(message.state)
  const wronglyFailed = message.state === 'failed' && RECOVERABLE.has(message.failureCode ?? '')
  if (!message.accepted && (inDoubt || wronglyFailed))
    return [sent(message, at, attempt, 'answer', providerIdIndex, secrets, null)]
  if (message.accepted && message.providerIdIndex === null)
    return [
      { type: 'MessageProviderIdLearned', at, data: { providerIdIndex }, ...sealedBy(message.contactId, secrets) }
    ]
  return []
}

/** The platform words some failures of a reaction like those of other messages, though it means the target (decisions §3). */
function asReaction(message: Message, report: Report): Report {
  const { reactionCode } = report
  return message.contentKind === 'reaction' && reactionCode !== null ? { ...report, code: reactionCode } : report
}

function recordReport(message: Message, at: string, given: Report): readonly MessageEvent[] | Rejection {
  const report = asReaction(message, given)
  if (message.state === 'queued') return reject('not_dispatched')
  if (message.reports.includes(reportKey(report))) return []
  const wronglyFailed = message.state === 'failed' && RECOVERABLE.has(message.failureCode ?? '')
  const believed = IN_DOUBT.has(message.state) || (wronglyFailed && report.status !== 'failed')
  if (!believed) return progress(message, at, report)
  // Proof of acceptance comes first, in the same append, so that `message.sent` fires once and before the rest.
  // Only a failure that our own later finding contradicts finds acceptance on record already.
  if (message.accepted)
    return report.status === 'sent' ? noted(message, at, report, 'late') : advance(message, at, report)
  // A dispatch whose attempt was given back went out after all: it counts again.
  const attempt = Math.max(message.attempts, 1)
  // When it was sent, only a report of that very status tells.
  const sentAt = report.status === 'sent' ? report.providerAt : null
  const proof = sent(message, at, attempt, 'report', report.providerIdIndex, report.secrets, sentAt)
  return [proof, ...advance(message, at, report)]
}

/** A report on a message whose acceptance is on record. */
function progress(message: Message, at: string, report: Report): readonly MessageEvent[] {
  const isFirstSent = report.status === 'sent' && !message.reports.some(key => key.startsWith('sent|'))
  if (isFirstSent && message.accepted) return noted(message, at, report, message.state === 'sent' ? 'ok' : 'late')
  const rank = RANK[message.state]
  const forwards =
    rank !== undefined && (report.status === 'failed' ? message.state !== 'read' : (RANK[report.status] ?? 0) > rank)
  return forwards ? advance(message, at, report) : noted(message, at, report, 'late')
}

function advance(message: Message, at: string, report: Report): readonly MessageEvent[] {
  const time = providerTime(report.providerAt)
  switch (report.status) {
    case 'sent':
      return []
    case 'delivered':
      return [{ type: 'MessageDelivered', at, ...time, data: {} }]
    case 'read':
      return [{ type: 'MessageRead', at, ...time, data: {} }]
    case 'failed': {
      const { providerCode, secrets, providerAt } = report
      const data = { code: failureCode(report), by: 'provider', ...optional({ providerCode }) } as const
      return [failed(message, at, data, { secrets, providerAt })]
    }
  }
}

function sent(
  message: Message,
  at: string,
  attempt: number,
  by: 'answer' | 'report',
  providerIdIndex: string | null,
  secrets: ProviderSecrets | null,
  providerAt: string | null
): Sent {
  const data = { attempt, by, ...optional({ providerIdIndex }) }
  return { type: 'MessageSent', at, ...providerTime(providerAt), data, ...sealedBy(message.contactId, secrets) }
}

function dispatchUnknown(
  message: Message,
  at: string,
  attempt: number,
  code: string,
  timeoutAt: string,
  secrets: ProviderSecrets | null
): DispatchUnknown {
  return {
    type: 'MessageDispatchUnknown',
    at,
    data: { attempt, code, timeoutAt },
    ...sealedBy(message.contactId, secrets)
  }
}

function failed(
  message: Message,
  at: string,
  data: Failed['data'],
  extra: { secrets?: ProviderSecrets | null; providerAt?: string | null } = {}
): Failed {
  const sealed = sealedBy(message.contactId, extra.secrets ?? null)
  return { type: 'MessageFailed', at, ...providerTime(extra.providerAt), data, ...sealed }
}

/** A report that moves nothing. Past the limit such reports are dropped; those that move the state never are. */
function noted(message: Message, at: string, report: Report, outcome: 'ok' | 'late'): readonly ReportNoted[] {
  if (message.reports.length >= REPORTS_MAX) return []
  const data = { status: report.status, outcome, ...optional({ code: report.code }) }
  return [{ type: 'MessageReportNoted', at, ...providerTime(report.providerAt), data }]
}

/** Members that are null are left out, so that stored events hold no nulls. */
function optional<T extends Record<string, string | null>>(members: T): { [K in keyof T]?: string } {
  const out: Record<string, string> = {}
  for (const [name, value] of Object.entries(members)) if (value !== null) out[name] = value
  return out as { [K in keyof T]?: string }
}

function later(at: string, seconds: number): string {
  return new Date(Date.parse(at) + seconds * 1000).toISOString()
}

export const message: Decider<Message, MessageCommand, MessageEvent> = { initial, decide, evolve }
