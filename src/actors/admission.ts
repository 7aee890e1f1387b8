/**
 * Admission: a send becomes a durable `MessageQueued`, or a refusal that leaves no trace (channel-service, send rules).
 * 202 goes out after this resolves; nothing but the append is awaited on the way.
 */
import { admissionRefusal, isRestricted } from '../domain/channel.ts'
import { isId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { MessageEvent, Queued } from '../domain/message-events.ts'
import type { CommandContext } from '../log/codec.ts'
import { outboundMessageId } from '../log/keys/tenant-keys.ts'
import type { ChannelRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import {
  type Asker,
  askedBy,
  type Core,
  findEvent,
  now,
  ok,
  type Refusal,
  type Result,
  refuse,
  seenEverything
} from './core.ts'
import type { Outcome } from './entity.ts'

export type SendInput = {
  readonly to: string
  readonly content: { readonly kind: string; readonly [member: string]: unknown }
  readonly idempotencyKey: string
  readonly replyToProviderId?: string
  readonly ttlSeconds?: number
  readonly metadata?: Readonly<Record<string, string>>
}
export type Accepted = { readonly messageId: string; readonly idempotent: boolean; readonly traceId: string }

export type Admission = {
  send(asker: Asker, ref: string, input: SendInput): Promise<Result<Accepted>>
  /** Null when the tenant has no such number. */
  channelOf(tenantId: string, ref: string): Promise<ChannelRow | null>
  /** The other kind of address has no meaning there (decisions §7). */
  isForeign(channel: ChannelRow, to: string): boolean
  /** One send on a number that is known, to an address that is not foreign to it. */
  admit(asker: Asker, channel: ChannelRow, input: SendInput, context: CommandContext): Promise<Result<Accepted>>
}

/** As much of the service as admission stands on: that of batches has a thread of its own. */
export type AdmissionCore = Pick<Core, 'log' | 'keyring' | 'views' | 'clock'> & {
  readonly aggregates: Pick<Core['aggregates'], 'messages'>
  readonly own: Pick<Core['own'], 'configurationSettled'>
}

const QUEUE_ATTEMPTS = 4

export function createAdmission(core: AdmissionCore): Admission {
  const { keyring, views, aggregates, own } = core

  async function channelOf(tenantId: string, ref: string): Promise<ChannelRow | null> {
    const waiting = own.configurationSettled(tenantId)
    if (waiting) await waiting
    const row = views.channelByRef(tenantId, ref)
    if (row) return row
    // Another node may have made it a moment ago: a miss looks once more when the views have seen everything.
    await seenEverything(core)
    return views.channelByRef(tenantId, ref)
  }

  type Code = string | null

  /** The code of a synchronous refusal, or null. A promise when it depends on who the recipient is. */
  function blocked(channel: ChannelRow, to: string, kind: string, at: string): Code | Promise<Code> {
    const refusal = admissionRefusal(channel, at)
    if (refusal) return refusal
    if (channel.kind === 'unofficial' && kind === 'reaction') return 'unsupported_capability'
    const restricted = channel.isRestricted ? { until: channel.restrictedUntil } : null
    return isRestricted({ restricted }, at) ? blockedAsNew(channel, to) : null
  }

  async function blockedAsNew(channel: ChannelRow, to: string): Promise<Code> {
    const contact = await keyring.findContact(channel.tenantId, to)
    if (contact === null) return 'channel_restricted'
    if (views.knows(channel.id, contact.id)) return null
    // What was sent or heard a moment ago makes somebody known.
    await seenEverything(core)
    return views.knows(channel.id, contact.id) ? null : 'channel_restricted'
  }

  const isForeign = (channel: ChannelRow, to: string): boolean => channel.kind === 'official' && to.endsWith('@lid')

  async function firstResult(messageId: string): Promise<Accepted | null> {
    const queued = await findEvent<Queued>(core, streamOf.message(messageId), event => event.type === 'MessageQueued')
    return queued && { messageId, idempotent: true, traceId: queued.meta.trace ?? '' }
  }

  async function queue(
    { tenantId }: Asker,
    channel: ChannelRow,
    messageId: string,
    input: SendInput,
    at: string,
    context: CommandContext
  ): Promise<Outcome<Message, MessageEvent>> {
    const reply = input.replyToProviderId
    const isOurs = reply !== undefined && isId('msg', reply)
    for (let attempt = 1; ; attempt++) {
      const contact = await keyring.ensureContact(tenantId, input.to, at, context.isBulk)
      const outcome = await aggregates.messages.ask(
        streamOf.message(messageId),
        {
          type: 'Queue',
          at,
          messageId,
          tenantId,
          channelId: channel.id,
          contactId: contact.id,
          contentKind: input.content.kind,
          replyTo: isOurs ? reply : null,
          ttlSeconds: input.ttlSeconds ?? null,
          secrets: {
            to: input.to,
            content: input.content,
            ...(input.metadata ? { metadata: input.metadata } : {}),
            ...(reply !== undefined && !isOurs ? { replyToRaw: reply } : {})
          }
        },
        context,
        { fresh: true }
      )
      if (outcome.ok || outcome.code !== 'overloaded' || attempt === QUEUE_ATTEMPTS) return outcome
      // In the same moment another thread may have made a key for the same contact: the first one counts.
      if (!(await keyring.isLost(contact.id))) return outcome
    }
  }

  async function admit(
    asker: Asker,
    channel: ChannelRow,
    input: SendInput,
    context: CommandContext
  ): Promise<Result<Accepted>> {
    const { tenantId } = asker
    const keys = keyring.tenantAtHand(tenantId) ?? (await keyring.tenant(tenantId))
    const messageId = outboundMessageId(keys, input.idempotencyKey)
    const at = now(core)
    const refusal = await blocked(channel, input.to, input.content.kind, at)
    if (refusal) {
      const earlier = await firstResult(messageId)
      return earlier ? ok(earlier) : refuse(refusal)
    }
    const outcome = await queue(asker, channel, messageId, input, at, context)
    // A tombstoned stream: the message is older than the retention, and is never sent again.
    if (!outcome.ok && outcome.code === 'gone') return ok({ messageId, idempotent: true, traceId: asker.trace })
    if (!outcome.ok) return refuse(outcome.code)
    if (outcome.events.length > 0) return ok({ messageId, idempotent: false, traceId: asker.trace })
    return ok((await firstResult(messageId)) ?? { messageId, idempotent: true, traceId: asker.trace })
  }

  return {
    channelOf,
    isForeign,
    admit,
    async send(asker, ref, input) {
      const channel = await channelOf(asker.tenantId, ref)
      if (!channel) return refuse('channel_not_found')
      return isForeign(channel, input.to) ? notAddressable('to') : admit(asker, channel, input, askedBy(asker))
    }
  }
}

/** `item`: of a batch, as its message names it. */
export const notAddressable = (path: string, item = ''): Refusal => ({
  ok: false,
  code: 'validation_failed',
  details: [{ path, message: `${item}a hidden id can be written to from unofficial numbers only` }]
})
