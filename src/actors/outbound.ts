/** From a queued message to what the connector sends: content opened, quote and reaction target resolved. */
import type { Content, Outbound } from '../connectors/port.ts'
import type { Channel } from '../domain/channel.ts'
import type { MessageEvent, ProviderSecrets, Queued, QueuedSecrets } from '../domain/message-events.ts'
import type { MessageReceived } from '../domain/record.ts'
import { renderTemplate } from '../domain/template.ts'
import { decode } from '../log/codec.ts'
import { streamOf } from './aggregates.ts'
import { type Core, findEvent, unseal } from './core.ts'

/** `failure`: the message cannot be sent at all, and why (a terminal code of decisions §3). */
export type Prepared = { readonly outbound: Outbound } | { readonly failure: string }

export async function prepare(core: Core, channel: Channel, messageId: string): Promise<Prepared> {
  const queued = await findEvent<Queued>(core, streamOf.message(messageId), event => event.type === 'MessageQueued')
  const secrets = queued && (await unseal<QueuedSecrets>(core, queued))
  if (!queued || !secrets) return { failure: 'contact_erased' }
  const content = sendable(core, channel, secrets.content as Content)
  if (content === null) return { failure: 'template_call_invalid' }
  const { replyTo } = queued.data
  const quoted = replyTo === undefined ? null : await providerIdOf(core, channel.id, replyTo)
  const target = content.kind === 'reaction' ? await providerIdOf(core, channel.id, content.targetMessageId) : null
  if (content.kind === 'reaction' && target === null) return { failure: 'invalid_recipient' }
  return {
    outbound: {
      messageId,
      to: secrets.to,
      content,
      quotedProviderId: quoted?.id ?? secrets.replyToRaw ?? null,
      ...(quoted?.own ? { quotedOwn: true } : {}),
      targetProviderId: target?.id ?? null
    }
  }
}

/** Unofficial numbers have no templates: theirs are sent as text. Null: unknown, or the parameters do not fit. */
function sendable(core: Core, channel: Channel, content: Content): Content | null {
  if (content.kind !== 'template' || channel.kind === 'official') return content
  const text = core.views.template(channel.tenantId, content.name, content.language)?.text
  const rendered = text ? renderTemplate(text, content) : null
  return rendered === null ? null : { kind: 'text', text: rendered }
}

type Known = { readonly id: string; readonly own: boolean }

/** Null when the message is unknown, of another number, not dispatched yet, or erased. */
async function providerIdOf(core: Core, channelId: string, messageId: string): Promise<Known | null> {
  let own = false
  for await (const recorded of core.log.read(streamOf.message(messageId))) {
    const event = decode<MessageEvent | MessageReceived>(recorded)
    const first = event.type === 'MessageQueued' || event.type === 'MessageReceived'
    if (first && event.data.channelId !== channelId) return null
    if (event.type === 'MessageQueued') own = true
    if (event.ciphertext === null || event.type === 'MessageQueued') continue
    const opened = await unseal<ProviderSecrets>(core, event)
    if (opened?.providerId !== undefined) return { id: opened.providerId, own }
  }
  return null
}
