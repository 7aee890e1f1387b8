/** A message from a person: one `MessageReceived`, however often its callback comes (the id is derived, the stream can exist once). */
import type { Update } from '../connectors/port.ts'
import type { MessageReceived } from '../domain/record.ts'
import { inboundMessageId, providerIdIndex } from '../log/keys/tenant-keys.ts'
import { LogUnavailable, NO_STREAM } from '../log/port.ts'
import type { ChannelRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import { type Core, now, ownCommand, record } from './core.ts'
import type { Identities } from './identities.ts'

export type InboundUpdate = Extract<Update, { kind: 'inbound' }>

/** Resolves with what was recorded, null when it was recorded before. */
export async function receive(
  core: Core,
  identities: Identities,
  channel: ChannelRow,
  update: InboundUpdate,
  trace: string
): Promise<MessageReceived['data'] | null> {
  const keys = await core.keyring.tenant(channel.tenantId)
  const messageId = inboundMessageId(keys, channel.id, update.providerId)
  const stream = streamOf.message(messageId)
  if (core.log.numberOf(stream) !== null) return null
  const at = now(core)
  const sender = await core.keyring.ensureContact(channel.tenantId, update.from, at)
  const contact = update.alias === null ? sender : await identities.seen(channel, sender, update.alias)
  const index = (providerId: string): string => providerIdIndex(keys, channel.id, providerId)
  const { message, quotedProviderId, profileName, providerAt } = update
  const event: MessageReceived = {
    type: 'MessageReceived',
    at,
    ...(providerAt === null ? {} : { providerAt }),
    data: {
      messageId,
      tenantId: channel.tenantId,
      channelId: channel.id,
      channelKind: channel.kind,
      contactId: contact.id,
      contentKind: message.kind,
      providerIdIndex: index(update.providerId),
      ...(quotedProviderId === null ? {} : { quotedIndex: index(quotedProviderId) }),
      ...(message.kind === 'reaction' ? { targetIndex: index(message.targetProviderId) } : {})
    },
    subject: contact.id,
    sealed: {
      from: update.from,
      providerId: update.providerId,
      message,
      ...(profileName === null ? {} : { profileName })
    }
  }
  const context = ownCommand(core, channel.tenantId, 'callback', { trace })
  const result = await record(core, stream, NO_STREAM, [event], context)
  // A conflict is the same message from a repeated callback; an erased stream is one that retention has taken.
  if (result.kind === 'invalid') throw new LogUnavailable(`inbound message not recorded: ${result.reason}`)
  return result.kind === 'appended' ? event.data : null
}
