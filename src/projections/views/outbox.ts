/** The webhook outbox: a row per (webhook event, destination that was enabled when it happened). */
import type { DestinationEvent } from '../../domain/destination.ts'
import type { RenotifyRequested } from '../../domain/message-events.ts'
import type { DeliveriesSettled } from '../../domain/record.ts'
import type { Projection, Recorded, RecordedOf, Rows, Touch, WebhookType } from '../port.ts'
import {
  changeDestination,
  enabledDestinations,
  findDestination,
  type OutboxDestination
} from './outbox-destinations.ts'
import { deliveryId, webhookEventId } from './outbox-ids.ts'
import { settleDelivery } from './outbox-outcomes.ts'
import {
  cuts,
  deliveries,
  outboxDestinations,
  outboxStatuses,
  outboxTenants,
  type StoredDelivery,
  type StoredStatus
} from './outbox-tables.ts'

const FAN_OUT: Readonly<Record<string, readonly WebhookType[]>> = {
  MessageSent: ['message.sent', 'message.status'],
  MessageDelivered: ['message.status'],
  MessageRead: ['message.status'],
  MessageFailed: ['message.status'],
  MessageReceived: ['message.received'],
  ChannelConnected: ['channel.lifecycle', 'channel.status'],
  ChannelReconnected: ['channel.lifecycle', 'channel.status'],
  ChannelWentDown: ['channel.lifecycle', 'channel.status'],
  ChannelReconnecting: ['channel.lifecycle'],
  ChannelDisconnected: ['channel.lifecycle'],
  ChannelDeleted: ['channel.lifecycle']
}
const CONFIGURATION: ReadonlySet<string> = new Set<DestinationEvent['type']>([
  'DestinationCreated',
  'DestinationChanged',
  'DestinationDisabled',
  'DestinationRemoved'
])

/** Numbers that one log event may give to its deliveries: two types, up to 32 destinations each. */
const NUMBERS_PER_TYPE = 32
const NUMBERS_PER_EVENT = 64

export const outboxProjection: Projection = {
  name: 'outbox',
  version: 1,
  tables: [deliveries, outboxStatuses, outboxDestinations, cuts, outboxTenants],
  handles: [...Object.keys(FAN_OUT), 'MessageRenotifyRequested', 'DeliveriesSettled', ...CONFIGURATION],
  apply(event, rows, touch) {
    if (event.type === 'DeliveriesSettled') {
      for (const outcome of (event as RecordedOf<DeliveriesSettled>).data.outcomes) settleDelivery(outcome, rows, touch)
      return
    }
    if (CONFIGURATION.has(event.type)) return changeDestination(event as RecordedOf<DestinationEvent>, rows, touch)
    if (event.type === 'MessageRenotifyRequested') return renotify(event as RecordedOf<RenotifyRequested>, rows, touch)
    const types = FAN_OUT[event.type] ?? []
    if (types.includes('message.status'))
      rows.put(outboxStatuses, { messageNo: event.streamNo, eventId: event.id, position: event.position })
    for (const [index, type] of types.entries()) {
      const told: Told = { type, logEventId: event.id, position: event.position, redelivery: null }
      fanOut(event, told, index * NUMBERS_PER_TYPE, rows, touch)
    }
  }
}

type Told = {
  readonly type: WebhookType
  readonly logEventId: string
  readonly position: number
  readonly redelivery: string | null
}

/** The same webhook event once more, with the id of the status event that brought the message where it is. */
function renotify(event: RecordedOf<RenotifyRequested>, rows: Rows, touch: Touch): void {
  const status = rows.get<StoredStatus>(outboxStatuses, [event.streamNo])
  if (!status) return
  const told: Told = {
    type: 'message.status',
    logEventId: status.eventId,
    position: status.position,
    redelivery: event.data.status
  }
  fanOut(event, told, 0, rows, touch)
}

function fanOut(cause: Recorded, told: Told, firstNumber: number, rows: Rows, touch: Touch): void {
  const targets = enabledDestinations(rows, cause.meta.tenant)
  if (targets.length === 0) return
  if (targets.length > NUMBERS_PER_TYPE) throw new Error('a tenant has more destinations than the outbox can number')
  const eventId = webhookEventId(told.logEventId, told.type)
  for (const [index, destinationId] of targets.entries()) {
    const destination = findDestination(rows, destinationId)
    if (!destination) continue
    const seq = cause.position * NUMBERS_PER_EVENT + firstNumber + index
    rows.put(deliveries, newDelivery(cause, told, eventId, destination, seq))
    destination.unsettled += 1
    rows.put(outboxDestinations, destination)
    touch('outbox', destinationId)
  }
}

function newDelivery(
  cause: Recorded,
  told: Told,
  eventId: string,
  destination: OutboxDestination,
  seq: number
): StoredDelivery {
  const { destinationId, tenantId, epoch } = destination
  return {
    id: deliveryId(cause.id, eventId, destinationId, told.redelivery === null ? null : cause.id),
    seq,
    eventId,
    eventType: told.type,
    tenantId,
    destinationId,
    epoch,
    position: told.position,
    streamNo: cause.streamNo,
    state: 'pending',
    attempts: 0,
    lastError: null,
    lastStatus: null,
    nextAttemptAt: null,
    createdAt: cause.at,
    deliveredAt: null,
    redelivery: told.redelivery
  }
}
