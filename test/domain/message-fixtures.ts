/** A message's life in short words, for rows and random sequences. */
import type { DispatchAnswer, MessageCommand, Report } from '../../src/domain/message.ts'
import type { Failed, MessageEvent, ProviderSecrets, ReportStatus } from '../../src/domain/message-events.ts'
import { at, id } from '../support/domain.ts'

export const CHANNEL = id('ch', 'a')
export const CONTACT = id('ct', 'c')
export const INDEX = 'ab'.repeat(16)
const secrets: ProviderSecrets = { providerId: 'provider-1' }
const sealed = { subject: CONTACT, sealed: secrets }
const identity = {
  messageId: id('msg', 'm'),
  tenantId: id('tn', 't'),
  channelId: CHANNEL,
  contactId: CONTACT,
  contentKind: 'text'
}
const content = { to: '4917012345678', content: { kind: 'text', text: 'hello' } }

export const queue = (ttlSeconds: number | null = null): MessageCommand => ({
  type: 'Queue',
  at: at(0),
  ...identity,
  replyTo: null,
  ttlSeconds,
  secrets: content
})
export const start = (second: number): MessageCommand => ({
  type: 'StartDispatch',
  at: at(second),
  dispatchId: `n1-${second}`
})
export const answer = (second: number, attempt: number, given: DispatchAnswer): MessageCommand => ({
  type: 'RecordAnswer',
  at: at(second),
  attempt,
  answer: given
})
export const report = (second: number, status: ReportStatus, more: Partial<Report> = {}): MessageCommand => ({
  type: 'RecordReport',
  at: at(second),
  channelId: CHANNEL,
  report: {
    status,
    code: null,
    reactionCode: null,
    providerCode: null,
    providerAt: null,
    providerIdIndex: null,
    secrets: null,
    ...more
  }
})

export const answers = {
  sent: { kind: 'sent', providerIdIndex: INDEX, secrets },
  refused: { kind: 'refused', code: 'provider_rejected', providerCode: '131026', secrets: null },
  retry: (maxAttempts = 5): DispatchAnswer => ({
    kind: 'retry',
    code: 'provider_busy',
    retryAt: at(100),
    maxAttempts,
    scope: 'message',
    providerCode: '131016',
    secrets: null
  }),
  slowRecipient: {
    kind: 'retry',
    code: 'provider_busy',
    retryAt: at(100),
    maxAttempts: 5,
    scope: 'recipient',
    providerCode: null,
    secrets: null
  },
  trouble: { kind: 'channel_trouble', code: 'credentials_rejected', retryAt: at(100), secrets: null },
  unknown: { kind: 'unknown', code: 'timeout', timeoutAt: at(600), secrets: null }
} as const satisfies Record<string, DispatchAnswer | ((maxAttempts?: number) => DispatchAnswer)>

export const happened = {
  queued: (expiresAt?: string): MessageEvent => ({
    type: 'MessageQueued',
    at: at(0),
    data: { ...identity, ...(expiresAt === undefined ? {} : { expiresAt }) },
    subject: CONTACT,
    sealed: content
  }),
  started: (second: number, attempt = 1): MessageEvent => ({
    type: 'MessageDispatchStarted',
    at: at(second),
    data: { attempt, dispatchId: `n1-${second}` }
  }),
  sent: (second: number, attempt = 1): MessageEvent => ({
    type: 'MessageSent',
    at: at(second),
    data: { attempt, by: 'answer', providerIdIndex: INDEX },
    ...sealed
  }),
  proven: (second: number, attempt = 1, providerAt?: string): MessageEvent => ({
    type: 'MessageSent',
    at: at(second),
    ...(providerAt === undefined ? {} : { providerAt }),
    data: { attempt, by: 'report' }
  }),
  learned: (second: number): MessageEvent => ({
    type: 'MessageProviderIdLearned',
    at: at(second),
    data: { providerIdIndex: INDEX },
    ...sealed
  }),
  retry: (second: number, attempt = 1): MessageEvent => ({
    type: 'MessageRetryScheduled',
    at: at(second),
    data: { attempt, code: 'provider_busy', retryAt: at(100) }
  }),
  trouble: (second: number, attempt = 1): MessageEvent => ({
    type: 'MessageRetryScheduled',
    at: at(second),
    data: { attempt, code: 'credentials_rejected', retryAt: at(100), channelTrouble: true }
  }),
  unknown: (second: number, attempt = 1, code = 'timeout'): MessageEvent => ({
    type: 'MessageDispatchUnknown',
    at: at(second),
    data: { attempt, code, timeoutAt: at(600) }
  }),
  delivered: (second: number, providerAt?: string): MessageEvent => ({
    type: 'MessageDelivered',
    at: at(second),
    ...(providerAt === undefined ? {} : { providerAt }),
    data: {}
  }),
  read: (second: number): MessageEvent => ({ type: 'MessageRead', at: at(second), data: {} }),
  failed: (second: number, data: Failed['data']): MessageEvent => ({ type: 'MessageFailed', at: at(second), data }),
  noted: (second: number, status: ReportStatus, outcome: 'ok' | 'late', more: object = {}): MessageEvent => ({
    type: 'MessageReportNoted',
    at: at(second),
    data: { status, outcome },
    ...more
  })
}

export const byUs = (code: string) => ({ code, by: 'service' }) as const
export const byProvider = (code: string) => ({ code, by: 'provider' }) as const

const dispatching = [happened.queued(), happened.started(1)]
const indeterminate = [...dispatching, happened.unknown(2)]

/** Ways to get into a state. */
export const histories = {
  dispatching,
  indeterminate,
  retrying: [...dispatching, happened.retry(2)],
  accepted: [...dispatching, happened.sent(2)],
  timedOut: [...indeterminate, happened.failed(600, byUs('dispatch_indeterminate'))],
  exhausted: [...dispatching, happened.failed(2, { ...byProvider('retries_exhausted'), cause: 'provider_busy' })]
}
