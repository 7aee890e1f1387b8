/** Deliveries as they are read: rows of a cut epoch are dead (views/outbox-tables.ts), ids are made of the row. */
import type { DeliveryRow } from '../port.ts'
import { deliveryId, webhookEventId, webhookTypes } from '../views/outbox-ids.ts'
import { DEAD, DELIVERED, deliveryStates, redeliveries, type StoredDelivery } from '../views/outbox-tables.ts'
import { optionalIso, toIso } from '../views/time.ts'

export type ReadDelivery = StoredDelivery & {
  readonly destinationId: string
  readonly tenantId: string
  /** Why the row's epoch was cut; null when it was not. */
  readonly cut: string | null
}

/** What a `SELECT` of ReadDelivery begins with, and its joins; `d` is the delivery. */
export const DELIVERY_COLUMNS = 'd.*, o.destinationId, o.tenantId, c.reason AS cut'
export const DELIVERY_JOINS = `JOIN outbox_destinations o ON o.destinationNo = d.destinationNo
  LEFT JOIN outbox_cuts c ON c.destinationNo = d.destinationNo AND c.epoch = d.epoch`

export function deliveryRow(row: ReadDelivery): DeliveryRow {
  // Settled before its epoch was cut: it stands as it is.
  const isCut = row.cut !== null && row.state !== DELIVERED && row.state !== DEAD
  return {
    seq: row.seq,
    id: deliveryId(row.seq, row.createdAt),
    eventId: webhookEventId(row.position, row.toldAt, row.type),
    eventType: webhookTypes.word(row.type),
    tenantId: row.tenantId,
    destinationId: row.destinationId,
    position: row.position,
    streamNo: row.streamNo,
    state: isCut ? 'dead' : deliveryStates.word(row.state),
    attempts: row.attempts,
    lastError: isCut ? row.cut : row.lastError,
    lastStatus: row.lastStatus,
    nextAttemptAt: isCut ? null : optionalIso(row.nextAttemptAt),
    createdAt: toIso(row.createdAt),
    deliveredAt: optionalIso(row.deliveredAt),
    redelivery: row.redelivery === null ? null : redeliveries.word(row.redelivery)
  }
}
