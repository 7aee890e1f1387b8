/** What a message has become: the fold of its events. */

import type { Report } from './message-commands.ts'
import type { MessageEvent, MessageState, ReportStatus } from './message-events.ts'
import type { MessageReceived } from './record.ts'

export type Message = {
  readonly state: MessageState
  readonly attempts: number
  readonly tenantId: string
  readonly channelId: string
  readonly contactId: string
  readonly contentKind: string
  readonly expiresAt: string | null
  readonly retryAt: string | null
  readonly timeoutAt: string | null
  /** Acceptance is on record: `message.sent` has fired and never fires again. */
  readonly accepted: boolean
  readonly providerIdIndex: string | null
  readonly failureCode: string | null
  /** Reports on record, as `status|provider time|code`; an exact repeat is dropped. */
  readonly reports: readonly string[]
}

export const initial: Message = {
  state: 'none',
  attempts: 0,
  tenantId: '',
  channelId: '',
  contactId: '',
  contentKind: '',
  expiresAt: null,
  retryAt: null,
  timeoutAt: null,
  accepted: false,
  providerIdIndex: null,
  failureCode: null,
  reports: []
}

/** Ours for a failure that came without a code. */
export const failureCode = (report: Pick<Report, 'code'>): string => report.code ?? 'provider_rejected'

/** A failure without a code has the same key as the event that it became. */
export const reportKey = (report: Pick<Report, 'status' | 'providerAt' | 'code'>): string =>
  `${report.status}|${report.providerAt ?? ''}|${report.status === 'failed' ? failureCode(report) : ''}`

/** An inbound message has the same kind of stream; for the outbound aggregate it is nobody's message. */
export function evolve(message: Message, event: MessageEvent | MessageReceived): Message {
  switch (event.type) {
    case 'MessageReceived':
      return message
    case 'MessageQueued': {
      const { tenantId, channelId, contactId, contentKind, expiresAt = null } = event.data
      return { ...initial, state: 'queued', tenantId, channelId, contactId, contentKind, expiresAt }
    }
    case 'MessageDispatchStarted':
      return { ...message, state: 'dispatching', attempts: event.data.attempt, retryAt: null }
    case 'MessageSent': {
      const providerIdIndex = event.data.providerIdIndex ?? message.providerIdIndex
      const attempts = Math.max(message.attempts, event.data.attempt)
      const base = { ...message, state: 'sent', attempts, accepted: true, providerIdIndex, ...settled } as const
      return event.data.by === 'report' ? withReport(base, 'sent', event.providerAt, null) : base
    }
    case 'MessageProviderIdLearned':
      return { ...message, providerIdIndex: event.data.providerIdIndex }
    case 'MessageRetryScheduled': {
      const attempts = event.data.channelTrouble ? message.attempts - 1 : message.attempts
      return { ...message, state: 'retrying', attempts, retryAt: event.data.retryAt, timeoutAt: null }
    }
    case 'MessageDispatchUnknown':
      return { ...message, state: 'indeterminate', timeoutAt: event.data.timeoutAt }
    case 'MessageDelivered':
      return withReport({ ...message, state: 'delivered', ...settled }, 'delivered', event.providerAt, null)
    case 'MessageRead':
      return withReport({ ...message, state: 'read', ...settled }, 'read', event.providerAt, null)
    case 'MessageFailed': {
      const base = { ...message, state: 'failed', ...settled, failureCode: event.data.code } as const
      return event.data.by === 'provider' ? withReport(base, 'failed', event.providerAt, event.data.code) : base
    }
    case 'MessageReportNoted':
      return withReport(message, event.data.status, event.providerAt, event.data.code ?? null)
    case 'MessageRenotifyRequested':
      return message
  }
}

const settled = { retryAt: null, timeoutAt: null, failureCode: null } as const

function withReport(
  message: Message,
  status: ReportStatus,
  providerAt: string | undefined,
  code: string | null
): Message {
  return { ...message, reports: [...message.reports, reportKey({ status, providerAt: providerAt ?? null, code })] }
}
