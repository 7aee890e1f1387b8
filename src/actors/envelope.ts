/** The webhook event as the receiver sees it (channel-service, Events). Rendered when it is sent, never stored. */
import type { Content, InboundMessage } from '../connectors/port.ts'
import type { ChannelEvent } from '../domain/channel.ts'
import type { MessageEvent, Queued, QueuedSecrets } from '../domain/message-events.ts'
import type { MessageReceived, TemplateObserved } from '../domain/record.ts'
import { renderTemplate } from '../domain/template.ts'
import { type Decoded, decode } from '../log/codec.ts'
import type { DeliveryRow } from '../projections/port.ts'
import { idOf } from './aggregates.ts'
import { type Core, findEvent, unseal } from './core.ts'

export type Envelope = {
  readonly id: string
  readonly type: string
  readonly tenantId: string
  readonly channelId: string
  readonly channelKind: string
  readonly channelNumber: string | null
  readonly provider: string
  readonly engine?: string
  readonly providerTimestamp: string | null
  readonly brokerTimestamp: string
  readonly traceId: string
  readonly data: Readonly<Record<string, unknown>>
  readonly redelivery?: true
}

export const providerName = (kind: string): 'official_platform' | 'unofficial_platform' =>
  kind === 'official' ? 'official_platform' : 'unofficial_platform'

type Told = {
  readonly channelId: string
  readonly data: Readonly<Record<string, unknown>>
  /** Trace of the request that began the message, whatever callback told of its later steps. */
  readonly trace?: string | null
}

/** Null when what it would tell was erased: the delivery is then dead. */
export async function render(core: Core, delivery: DeliveryRow): Promise<Envelope | null> {
  const recorded = await core.log.at(delivery.position)
  if (!recorded) return null
  const event = decode<MessageEvent | MessageReceived | ChannelEvent | TemplateObserved>(recorded)
  const told = await tell(core, delivery, event, recorded.stream)
  const channel = told && core.views.channelById(told.channelId)
  if (!told || !channel) return null
  return {
    id: delivery.eventId,
    type: delivery.eventType,
    tenantId: delivery.tenantId,
    channelId: channel.id,
    channelKind: channel.kind,
    channelNumber: channel.number,
    provider: providerName(channel.kind),
    ...(channel.engine === null ? {} : { engine: channel.engine }),
    providerTimestamp: event.providerAt ?? null,
    brokerTimestamp: event.at,
    traceId: told.trace ?? event.meta.trace ?? (await firstTrace(core, recorded.stream)) ?? '',
    data: told.data,
    ...(delivery.redelivery === null ? {} : { redelivery: true })
  }
}

/** Later steps of a message belong to the trace of the request that began it. */
async function firstTrace(core: Core, stream: string): Promise<string | null> {
  for await (const recorded of core.log.read(stream, { limit: 1 })) return decode(recorded).meta.trace
  return null
}

async function tell(
  core: Core,
  delivery: DeliveryRow,
  event: Decoded<MessageEvent | MessageReceived | ChannelEvent | TemplateObserved>,
  stream: string
): Promise<Told | null> {
  switch (delivery.eventType) {
    case 'message.sent':
      return tellSent(core, delivery, stream)
    case 'message.status':
      return tellStatus(core, delivery, event, stream)
    case 'message.received':
      return event.type === 'MessageReceived' ? tellReceived(core, event) : null
    case 'template.updated': {
      if (event.type !== 'TemplateObserved') return null
      const { channelId, name, language, status } = event.data
      return { channelId, data: { name, language, status } }
    }
    case 'channel.status':
      return tellChannelStatus(core, event, idOf(stream))
    case 'channel.lifecycle': {
      const channelId = idOf(stream)
      const row = core.views.auditAt(channelId, event.position)
      if (!row) return null
      return {
        channelId,
        data: { fromState: row.fromState, toState: row.toState, reason: row.reason, source: row.source }
      }
    }
  }
}

const queuedEvent = (core: Core, stream: string): Promise<Decoded<Queued> | null> =>
  findEvent<Queued>(core, stream, event => event.type === 'MessageQueued')

async function tellSent(core: Core, delivery: DeliveryRow, stream: string): Promise<Told | null> {
  const queued = await queuedEvent(core, stream)
  const secrets = queued && (await unseal<QueuedSecrets>(core, queued))
  if (!queued || !secrets) return null
  const { messageId, channelId } = queued.data
  const metadata = secrets.metadata ? { metadata: secrets.metadata } : {}
  return {
    channelId,
    trace: queued.meta.trace,
    data: {
      to: secrets.to,
      messageId,
      content: leanContent(core, delivery.tenantId, channelId, secrets.content as Content),
      ...metadata
    }
  }
}

/** The kind sent, without url and without provider ids (channel-service, Events). */
function leanContent(
  core: Core,
  tenantId: string,
  channelId: string,
  content: Content
): Readonly<Record<string, unknown>> {
  switch (content.kind) {
    case 'media': {
      const { url: _url, ...rest } = content
      return rest
    }
    case 'template': {
      const { name, language } = content
      const text = templateText(core, tenantId, channelId, name, language)
      // `rendered` is there only when the template is known and its parameters fit; it is never invented.
      const rendered = text ? renderTemplate(text, content) : null
      const params = content.bodyParams ?? []
      return { kind: 'template', name, language, params, ...(rendered === null ? {} : { rendered }) }
    }
    default:
      return content
  }
}

/** What the number sends under that name: its account's own template on the official platform, else the workspace's. */
function templateText(core: Core, tenantId: string, channelId: string, name: string, language: string) {
  const channel = core.views.channelById(channelId)
  if (channel?.kind !== 'official') return core.views.template(tenantId, name, language)?.text
  const named = core.views.templatesNamed(tenantId, name)
  return named.find(row => row.wabaId === channel.wabaId && row.language === language)?.text
}

const STATUS: Readonly<Record<string, string>> = {
  MessageSent: 'sent',
  MessageDelivered: 'delivered',
  MessageRead: 'read',
  MessageFailed: 'failed'
}

async function tellStatus(core: Core, delivery: DeliveryRow, event: Decoded, stream: string): Promise<Told | null> {
  const queued = await queuedEvent(core, stream)
  if (!queued) return null
  const status = delivery.redelivery ?? STATUS[event.type]
  const code = (event.data as { code?: string }).code
  const errorCode = status === 'failed' && code !== undefined ? { errorCode: code } : {}
  const { messageId, channelId } = queued.data
  return { channelId, trace: queued.meta.trace, data: { messageId, status, ...errorCode } }
}

async function tellReceived(core: Core, event: Decoded<MessageReceived>): Promise<Told | null> {
  const secrets = await unseal<NonNullable<MessageReceived['sealed']>>(core, event)
  if (!secrets) return null
  const { channelId, messageId, quotedIndex, targetIndex } = event.data
  const quoted = quotedIndex === undefined ? null : core.views.messageByProviderId(channelId, quotedIndex)
  const reply = quotedIndex === undefined ? {} : quoted === null ? { replyToUnknown: true } : { replyTo: quoted }
  const target = targetIndex === undefined ? null : core.views.messageByProviderId(channelId, targetIndex)
  const profileName = secrets.profileName === undefined ? {} : { profileName: secrets.profileName }
  const message = tellMessage(secrets.message as InboundMessage, messageId, target)
  return { channelId, data: { from: secrets.from, message, messageId, ...profileName, ...reply } }
}

/** A medium goes by its message's own id: what the platform calls it stays with us. */
function tellMessage(
  message: InboundMessage,
  messageId: string,
  targetMessageId: string | null
): Readonly<Record<string, unknown>> {
  if (message.kind === 'reaction') return { kind: 'reaction', targetMessageId, emoji: message.emoji }
  if (message.kind !== 'media') return message
  const { path: _path, ...rest } = message
  return { ...rest, mediaId: messageId }
}

function tellChannelStatus(core: Core, event: Decoded, channelId: string): Told {
  if (event.type === 'ChannelWentDown') return { channelId, data: { state: 'down' } }
  const phoneNumber = core.views.channelById(channelId)?.number ?? null
  return { channelId, data: { state: 'connected', phoneNumber } }
}
