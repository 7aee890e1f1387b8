/** The webhook outbox: a row per (webhook event, destination that was enabled when it happened). */
import type { DestinationEvent } from '../../domain/destination.ts'
import type { RenotifyRequested } from '../../domain/message-events.ts'
import type { DeliveriesRetried, DeliveriesSettled, TemplateObserved } from '../../domain/record.ts'
import type { Projection, Recorded, RecordedOf, Rows, Touch, WebhookType } from '../port.ts'
import { changeDestination, enabledDestinations, findDestination } from './outbox-destinations.ts'
import { webhookTypes } from './outbox-ids.ts'
import { reviveDelivery, settleDelivery } from './outbox-outcomes.ts'
import {
  cuts,
  deliveries,
  outboxDestinations,
  outboxStatuses,
  outboxTenants,
  PENDING,
  redeliveries,
  type StoredDelivery,
  type StoredStatus
} from './outbox-tables.ts'
import { toMs } from './time.ts'

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
  ChannelDeleted: ['channel.lifecycle'],
  TemplateObserved: ['template.updated']
}
const CONFIGURATION: ReadonlySet<string> = new Set<DestinationEvent['type']>([
  'DestinationCreated',
  'DestinationChanged',
  'DestinationDisabled',
  'DestinationRemoved'
])

/** Places that one log event may give to its deliveries: two types, up to 32 destinations each. */
export const PLACES_PER_TYPE = 32
export const PLACES_PER_EVENT = 64

export const outboxProjection: Projection = {
  name: 'outbox',
  version: 2,
  tables: [deliveries, outboxStatuses, outboxDestinations, cuts, outboxTenants],
  handles: [
    ...Object.keys(FAN_OUT),
    'MessageRenotifyRequested',
    'DeliveriesSettled',
    'DeliveriesRetried',
    ...CONFIGURATION
  ],
  apply(event, rows, touch) {
    switch (event.type) {
      case 'DeliveriesSettled':
        for (const outcome of (event as RecordedOf<DeliveriesSettled>).data.outcomes)
          settleDelivery(outcome, rows, touch)
        return
      case 'DeliveriesRetried':
        for (const id of (event as RecordedOf<DeliveriesRetried>).data.deliveryIds)
          reviveDelivery(id, event.at, rows, touch)
        return
      case 'MessageRenotifyRequested':
        return renotify(event as RecordedOf<RenotifyRequested>, rows, touch)
      case 'TemplateObserved':
        if ((event as RecordedOf<TemplateObserved>).data.isNews) announce(event, rows, touch)
        return
      default:
        if (CONFIGURATION.has(event.type)) changeDestination(event as RecordedOf<DestinationEvent>, rows, touch)
        else announce(event, rows, touch)
    }
  }
}

/** What a delivery tells of; `at` in milliseconds. */
type Told = {
  readonly type: WebhookType
  readonly position: number
  readonly at: number
  readonly redelivery: number | null
}

function announce(event: Recorded, rows: Rows, touch: Touch): void {
  const { position } = event
  const types = FAN_OUT[event.type] ?? []
  const at = toMs(event.at)
  if (types.includes('message.status')) rows.put(outboxStatuses, { messageNo: event.streamNo, position, at })
  for (const [index, type] of types.entries())
    fanOut(event, { type, position, at, redelivery: null }, index * PLACES_PER_TYPE, rows, touch)
}

/** The same webhook event once more, with the id of the status event that brought the message where it is. */
function renotify(event: RecordedOf<RenotifyRequested>, rows: Rows, touch: Touch): void {
  const status = rows.get<StoredStatus>(outboxStatuses, [event.streamNo])
  if (!status) return
  const { position, at } = status
  const redelivery = redeliveries.code(event.data.status)
  fanOut(event, { type: 'message.status', position, at, redelivery }, 0, rows, touch)
}

function fanOut(cause: Recorded, told: Told, firstPlace: number, rows: Rows, touch: Touch): void {
  const targets = enabledDestinations(rows, cause.meta.tenant)
  if (targets.length > PLACES_PER_TYPE) throw new Error('a tenant has more destinations than the outbox can number')
  for (const [index, destinationNo] of targets.entries()) {
    const destination = findDestination(rows, destinationNo)
    if (!destination) continue
    const row: StoredDelivery = {
      seq: cause.position * PLACES_PER_EVENT + firstPlace + index,
      type: webhookTypes.code(told.type),
      destinationNo,
      epoch: destination.epoch,
      position: told.position,
      toldAt: told.at,
      streamNo: cause.streamNo,
      state: PENDING,
      attempts: 0,
      lastError: null,
      lastStatus: null,
      nextAttemptAt: null,
      createdAt: told.redelivery === null ? told.at : toMs(cause.at),
      deliveredAt: null,
      redelivery: told.redelivery
    }
    rows.put(deliveries, row)
    destination.unsettled += 1
    rows.put(outboxDestinations, destination)
    touch('outbox', destination.destinationId)
  }
}
