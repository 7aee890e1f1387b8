/** What leaves the house, field by field: rows of the views hold more than clients may see. */
import type {
  AuditRow,
  DeliveryRow,
  DestinationRow,
  KeyRow,
  Metrics,
  RiskRow,
  TemplateRow
} from '../../projections/port.ts'
import type { ChannelView, Erasure, ListedChannel, ListedMessage, Result, TrackedMessage } from '../ports.ts'

export function showChannel(channel: ChannelView): ChannelView {
  const { id, kind, provider, state, label, number, engine, lastError, stateChangedAt, limited, restricted } = channel
  const view = { id, kind, provider, state, label, number, engine, lastError, stateChangedAt, limited, restricted }
  return channel.quarantine === undefined ? view : { ...view, quarantine: channel.quarantine }
}

export const showChannelDetail = (channel: ChannelView & Pick<ListedChannel, 'tags'>) => ({
  ...showChannel(channel),
  tags: channel.tags
})

export function showListedChannel(channel: ListedChannel): ListedChannel {
  const { tags, phoneNumberId, rateLimitPerMinute, health } = channel
  return { ...showChannel(channel), tags, phoneNumberId, rateLimitPerMinute, health }
}

export function showAudit(event: AuditRow): AuditRow {
  const { id, kind, fromState, toState, reason, source, activeNumber, createdAt, traceId } = event
  return { id, kind, fromState, toState, reason, source, activeNumber, createdAt, traceId }
}

export function showDestination(destination: DestinationRow) {
  const { id, url, secretLast4, enabled, createdAt } = destination
  return { id, url, secretLast4, enabled, createdAt }
}

export function showDelivery(delivery: DeliveryRow) {
  const { id, eventId, eventType, destinationId, state, attempts } = delivery
  const { lastError, lastStatus, nextAttemptAt, createdAt, deliveredAt } = delivery
  const outcome = { lastError, lastStatus, nextAttemptAt, createdAt, deliveredAt }
  return { id, eventId, eventType, destinationId, state, attempts, ...outcome }
}

export function showKey(key: KeyRow) {
  const { id, name, permissions, expiresAt, createdAt, lastFour } = key
  return { id, name, permissions, expiresAt, createdAt, lastFour }
}

export function showListedMessage(message: ListedMessage): ListedMessage {
  const { id, channelId, state, attempts, lastError, toAddress, traceId, createdAt, updatedAt } = message
  return { id, channelId, state, attempts, lastError, toAddress, traceId, createdAt, updatedAt }
}

export const showTracked = (message: TrackedMessage): TrackedMessage => ({
  ...showListedMessage(message),
  events: message.events
})

export function showMetrics({ granularity, series, totals, window }: Metrics): Metrics {
  const { enqueued, dispatched, delivered, failed } = totals
  return {
    granularity,
    series: series.map(({ day, t, ...bucket }) => ({
      day,
      t,
      enqueued: bucket.enqueued,
      dispatched: bucket.dispatched,
      delivered: bucket.delivered
    })),
    totals: { enqueued, dispatched, delivered, failed },
    window
  }
}

export function showTemplate({ name, language, status, category, source, wabaId, text, updatedAt }: TemplateRow) {
  const { body = null, header = null, footer = null } = text ?? {}
  return { name, language, status, category, source, wabaId, body, header, footer, updatedAt }
}

export function showRisk({ track, termsVersion, acceptedAt }: RiskRow): RiskRow {
  return { track, termsVersion, acceptedAt }
}

type Erased = Awaited<ReturnType<Erasure['erase']>> extends Result<infer T> ? T : never

export function showErased({ contact, messages, deliveriesCancelled, erasedAt }: Erased): Erased {
  return { contact, messages, deliveriesCancelled, erasedAt }
}
