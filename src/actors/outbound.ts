/** From a queued message to what the connector sends: content opened, quote and reaction target resolved. */
import type { Content, Outbound } from '../connectors/port.ts'
import { isId } from '../domain/ids.ts'
import type { MessageEvent, ProviderSecrets, Queued, QueuedSecrets } from '../domain/message-events.ts'
import type { MessageReceived } from '../domain/record.ts'
import { decode } from '../log/codec.ts'
import { streamOf } from './aggregates.ts'
import { type Core, findEvent, unseal } from './core.ts'

/** `failure`: the message cannot be sent at all, and why (a terminal code of decisions §3). */
export type Prepared = { readonly outbound: Outbound } | { readonly failure: string }

export async function prepare(core: Core, messageId: string): Promise<Prepared> {
  const queued = await findEvent<Queued>(core, streamOf.message(messageId), event => event.type === 'MessageQueued')
  const secrets = queued && (await unseal<QueuedSecrets>(core, queued))
  if (!queued || !secrets) return { failure: 'contact_erased' }
  const content = secrets.content as Content
  const { channelId, replyTo } = queued.data
  const outbound: Outbound = {
    messageId,
    to: secrets.to,
    content,
    quotedProviderId: replyTo ? await providerIdOf(core, channelId, replyTo) : (secrets.replyToRaw ?? null),
    targetProviderId: content.kind === 'reaction' ? await targetOf(core, channelId, content.targetMessageId) : null
  }
  if (content.kind === 'reaction' && outbound.targetProviderId === null) return { failure: 'invalid_recipient' }
  return { outbound }
}

async function targetOf(core: Core, channelId: string, target: string): Promise<string | null> {
  return isId('msg', target) ? providerIdOf(core, channelId, target) : target
}

/** Null when the message is unknown, of another number, not dispatched yet, or erased. */
export async function providerIdOf(core: Core, channelId: string, messageId: string): Promise<string | null> {
  for await (const recorded of core.log.read(streamOf.message(messageId))) {
    const event = decode<MessageEvent | MessageReceived>(recorded)
    const first = event.type === 'MessageQueued' || event.type === 'MessageReceived'
    if (first && event.data.channelId !== channelId) return null
    if (event.ciphertext === null || event.type === 'MessageQueued') continue
    const opened = await unseal<ProviderSecrets>(core, event)
    if (opened?.providerId !== undefined) return opened.providerId
  }
  return null
}
