/** A received message with an attachment, as the log has it. */
import type { InboundMessage } from '../connectors/port.ts'
import type { RemoteFile } from '../connectors/unofficial/media.ts'
import type { MessageReceived } from '../domain/record.ts'
import { decode } from '../log/codec.ts'
import { streamOf } from './aggregates.ts'
import { type Core, unseal } from './core.ts'
import type { MediaPlace } from './media-store.ts'

type Attachment = Extract<InboundMessage, { kind: 'media' }>
export type MediaMessage = {
  readonly place: MediaPlace
  readonly channelId: string
  readonly receivedAt: string
  readonly file: RemoteFile
  readonly type: string
  readonly filename: string | null
  readonly contactKey: Buffer
}

/** Null when the message is none of the kind, belongs to an official number, or its contact was erased. */
export async function mediaMessage(core: Core, messageId: string): Promise<MediaMessage | null> {
  for await (const recorded of core.log.read(streamOf.message(messageId), { limit: 1 })) {
    if (recorded.type !== 'MessageReceived') return null
    const event = decode<MessageReceived>(recorded)
    const { tenantId, contactId, channelId, channelKind, contentKind } = event.data
    if (channelKind !== 'unofficial' || contentKind !== 'media') return null
    const secrets = await unseal<NonNullable<MessageReceived['sealed']>>(core, event)
    const contact = await core.keyring.contact(tenantId, contactId)
    if (!secrets || !contact) return null
    const { path, mimeType, filename } = secrets.message as Attachment
    return {
      place: { tenantId, contactId, messageId },
      channelId,
      receivedAt: event.at,
      file: { path, providerId: secrets.providerId, from: secrets.from },
      type: mimeType,
      filename,
      contactKey: contact.key
    }
  }
  return null
}
