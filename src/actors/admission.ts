/**
 * Admission: a send becomes a durable `MessageQueued`, or a refusal that leaves no trace (channel-service, send rules).
 * 202 goes out after this resolves; nothing but the append is awaited on the way.
 */
import { admissionRefusal, isRestricted } from '../domain/channel.ts'
import { isId } from '../domain/ids.ts'
import type { Queued } from '../domain/message-events.ts'
import type { CommandContext } from '../log/codec.ts'
import { outboundMessageId } from '../log/keys/tenant-keys.ts'
import type { ChannelRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import {
  type Asker,
  askedBy,
  type Core,
  findEvent,
  isUnavailable,
  now,
  ok,
  type Refusal,
  type Result,
  refuse,
  seenEverything
} from './core.ts'
import type { Slices } from './slices.ts'

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
  /** Independent sends, each with its own outcome in its own place; resolves when the last one is durable. */
  sendMany(asker: Asker, ref: string, inputs: readonly SendInput[]): Promise<Result<readonly Result<Accepted>[]>>
}

/** Items of one batch under way at once: a commit's worth. */
const ITEMS_AT_ONCE = 256

type Room = { enter(): Promise<void> | null; leave(): void }

/** Room for so many at once: `enter` is waited for when there is none. One asks at a time. */
function createRoom(places: number): Room {
  let free = places
  let wake: (() => void) | null = null
  return {
    enter() {
      free--
      return free >= 0 ? null : new Promise(resolve => (wake = resolve))
    },
    leave() {
      free++
      wake?.()
      wake = null
    }
  }
}

export function createAdmission(core: Core, slices: Slices): Admission {
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

  /** The code of a synchronous refusal, or null. */
  async function blocked(channel: ChannelRow, to: string, kind: string, at: string): Promise<string | null> {
    const refusal = admissionRefusal(channel, at)
    if (refusal) return refusal
    if (channel.kind === 'unofficial' && kind === 'reaction') return 'unsupported_capability'
    const restricted = channel.isRestricted ? { until: channel.restrictedUntil } : null
    if (!isRestricted({ restricted }, at)) return null
    const contact = await keyring.findContact(channel.tenantId, to)
    if (contact === null) return 'channel_restricted'
    if (views.knows(channel.id, contact.id)) return null
    // What was sent or heard a moment ago makes somebody known.
    await seenEverything(core)
    return views.knows(channel.id, contact.id) ? null : 'channel_restricted'
  }

  /** The other kind of address has no meaning there (decisions §7). */
  const isForeign = (channel: ChannelRow, to: string): boolean => channel.kind === 'official' && to.endsWith('@lid')

  async function firstResult(messageId: string): Promise<Accepted | null> {
    const queued = await findEvent<Queued>(core, streamOf.message(messageId), event => event.type === 'MessageQueued')
    return queued && { messageId, idempotent: true, traceId: queued.meta.trace ?? '' }
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
    const contact = await keyring.ensureContact(tenantId, input.to, at, context.isBulk)
    const reply = input.replyToProviderId
    const isOurs = reply !== undefined && isId('msg', reply)
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
    // A tombstoned stream: the message is older than the retention, and is never sent again.
    if (!outcome.ok && outcome.code === 'gone') return ok({ messageId, idempotent: true, traceId: asker.trace })
    if (!outcome.ok) return refuse(outcome.code)
    if (outcome.events.length > 0) return ok({ messageId, idempotent: false, traceId: asker.trace })
    return ok((await firstResult(messageId)) ?? { messageId, idempotent: true, traceId: asker.trace })
  }

  async function sendMany(
    asker: Asker,
    ref: string,
    inputs: readonly SendInput[]
  ): Promise<Result<readonly Result<Accepted>[]>> {
    const channel = await channelOf(asker.tenantId, ref)
    if (!channel) return refuse('channel_not_found')
    const foreign = inputs.findIndex(({ to }) => isForeign(channel, to))
    if (foreign >= 0) return notAddressable(`messages[${foreign}].to`, `item ${foreign + 1}: `)
    /** Items of one recipient go one after the other, and so do two with the same key: their order is the client's. */
    const ofRecipient = new Map<string, Promise<unknown>>()
    const ofKey = new Map<string, Promise<unknown>>()
    const room = createRoom(ITEMS_AT_ONCE)
    const results: Promise<Result<Accepted>>[] = []
    const context = { ...askedBy(asker), isBulk: true }
    for (const input of inputs) {
      const full = room.enter()
      if (full) await full
      const turn = slices.next()
      if (turn) await turn
      const earlier = ofRecipient.get(input.to)
      const same = ofKey.get(input.idempotencyKey)
      const admitted =
        earlier || same
          ? Promise.all([earlier, same]).then(() => admit(asker, channel, input, context))
          : admit(asker, channel, input, context)
      const result = admitted.catch(error => (isUnavailable(error) ? refuse('overloaded') : Promise.reject(error)))
      const done = result.then(room.leave, room.leave)
      ofRecipient.set(input.to, done)
      ofKey.set(input.idempotencyKey, done)
      results.push(result)
    }
    return ok(await Promise.all(results))
  }

  return {
    sendMany,
    async send(asker, ref, input) {
      const channel = await channelOf(asker.tenantId, ref)
      if (!channel) return refuse('channel_not_found')
      return isForeign(channel, input.to) ? notAddressable('to', '') : admit(asker, channel, input, askedBy(asker))
    }
  }
}

const notAddressable = (path: string, item: string): Refusal => ({
  ok: false,
  code: 'validation_failed',
  details: [{ path, message: `${item}a hidden id can be written to from unofficial numbers only` }]
})
