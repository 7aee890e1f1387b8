import { z } from 'zod'
import type { MessageEvent } from '../../domain/message-events.ts'
import { definitionsOf } from './definition.ts'
import { blindIndex, count, id, text, time, word } from './fields.ts'

const stream = 'message-msg_…'
const attempt = count.min(1).describe('number of the dispatch, from 1')
const reportStatus = z.enum(['sent', 'delivered', 'read', 'failed'])
const providerCode = text(200).describe("the provider's own code of the error")
const nothing = z.strictObject({})

const providerSecrets = z.strictObject({
  providerId: text(1000).exactOptional().describe("the provider's message id (it holds the number)"),
  address: text(300).exactOptional().describe('the recipient as the provider knows it'),
  detail: z.string().exactOptional().describe("the provider's text of the error")
})

const queuedSecrets = z.strictObject({
  to: text(300).describe("digits, or the platform's user id"),
  content: z.unknown().describe('the content as the client sent it'),
  metadata: z.record(z.string(), z.string()).exactOptional(),
  replyToRaw: text(1000).exactOptional().describe('a raw provider id as the client gave it')
})

const providerPart = { sealed: providerSecrets, key: 'contact' } as const

export const messageDefinitions = definitionsOf<MessageEvent>()({
  MessageQueued: {
    stream,
    by: 'api',
    about: 'A send was admitted and waits for its turn. First event of an outbound message.',
    data: z.strictObject({
      messageId: id('msg'),
      tenantId: id('tn'),
      channelId: id('ch'),
      contactId: id('ct'),
      contentKind: word,
      replyTo: id('msg').exactOptional().describe('the message that it quotes'),
      expiresAt: time.exactOptional().describe('not dispatched from then on')
    }),
    sealed: queuedSecrets,
    key: 'contact'
  },
  MessageDispatchStarted: {
    stream,
    by: 'dispatcher',
    about: 'Durable before the provider is called: from here on the message may have gone out.',
    data: z.strictObject({ attempt, dispatchId: text(200).describe('names the call; one decider, one id') })
  },
  MessageSent: {
    stream,
    by: 'dispatcher, callback',
    about: 'The provider accepted it: by the answer of the send, or as a report proves. Recorded once.',
    data: z.strictObject({
      attempt,
      by: z.enum(['answer', 'report']),
      providerIdIndex: blindIndex.exactOptional()
    }),
    ...providerPart
  },
  MessageProviderIdLearned: {
    stream,
    by: 'dispatcher',
    about: 'A late answer of the send brought the provider id of a message that a report had settled.',
    data: z.strictObject({ providerIdIndex: blindIndex }),
    ...providerPart
  },
  MessageRetryScheduled: {
    stream,
    by: 'dispatcher',
    about: 'This dispatch was refused for now; the message waits and is dispatched again.',
    data: z.strictObject({
      attempt,
      code: word,
      retryAt: time,
      channelTrouble: z
        .literal(true)
        .exactOptional()
        .describe('the channel was the trouble: the attempt is not counted'),
      scope: z.literal('recipient').exactOptional().describe('only this recipient is slowed down')
    }),
    ...providerPart
  },
  MessageDispatchUnknown: {
    stream,
    by: 'dispatcher',
    about: 'The request may have reached the provider, no answer came back. Never sent again by itself.',
    data: z.strictObject({ attempt, code: word, timeoutAt: time.describe('fails then, unless the provider reports') }),
    ...providerPart
  },
  MessageDelivered: { stream, by: 'callback', about: 'The provider reported the delivery.', data: nothing },
  MessageRead: { stream, by: 'callback', about: 'The provider reported that it was read.', data: nothing },
  MessageFailed: {
    stream,
    by: 'dispatcher, callback, timers, api',
    about: 'It failed, as we found or as the provider said. Final, but for late proof that an attempt went out.',
    data: z.strictObject({
      code: word,
      by: z.enum(['service', 'provider']).describe("`provider` counts for the channel's breaker"),
      cause: word.exactOptional().describe("the last attempt's code, where `code` is `retries_exhausted`"),
      providerCode: providerCode.exactOptional()
    }),
    ...providerPart
  },
  MessageReportNoted: {
    stream,
    by: 'callback',
    about: "A report that moved nothing: the platform's own `sent` (`ok`), or one that came too late.",
    data: z.strictObject({ status: reportStatus, outcome: z.enum(['ok', 'late']), code: word.exactOptional() })
  },
  MessageRenotifyRequested: {
    stream,
    by: 'api',
    about: 'The tenant asked for its current status once more.',
    data: z.strictObject({ status: reportStatus })
  }
})
