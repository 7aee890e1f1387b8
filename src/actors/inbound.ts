/** A message from a person: one `MessageReceived`, however often its callback comes (the id is derived, the stream can exist once). */
import type { Update } from '../connectors/port.ts'
import type { MessageReceived } from '../domain/record.ts'
import type { Contact } from '../log/keys/contact-keys.ts'
import { inboundMessageId, providerIdIndex, type TenantKeys } from '../log/keys/tenant-keys.ts'
import { LogUnavailable, NO_STREAM } from '../log/port.ts'
import type { ChannelRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import { type Core, isUnavailable, now, ownCommand, record } from './core.ts'
import type { Identities } from './identities.ts'

export type InboundUpdate = Extract<Update, { kind: 'inbound' }>

const RECORD_ATTEMPTS = 2

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
  for (let attempt = 1; ; attempt++) {
    const contact = await senderOf(core, identities, channel, update)
    try {
      return await recordReceived(core, channel, update, contact, { keys, messageId, stream, trace })
    } catch (error) {
      // In the same moment a batch may have made a key for the same contact: the first one counts.
      const isRepeated = attempt < RECORD_ATTEMPTS && isUnavailable(error) && (await core.keyring.isLost(contact.id))
      if (!isRepeated) throw error
    }
  }
}

async function senderOf(
  core: Core,
  identities: Identities,
  channel: ChannelRow,
  update: InboundUpdate
): Promise<Contact> {
  const sender = await core.keyring.ensureContact(channel.tenantId, update.from, now(core))
  return update.alias === null ? sender : identities.seen(channel, sender, update.alias)
}

type Place = { readonly keys: TenantKeys; readonly messageId: string; readonly stream: string; readonly trace: string }

async function recordReceived(
  core: Core,
  channel: ChannelRow,
  update: InboundUpdate,
  contact: Contact,
  { keys, messageId, stream, trace }: Place
): Promise<MessageReceived['data'] | null> {
  const at = now(core)
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
