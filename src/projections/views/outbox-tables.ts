/**
 * Tables of the outbox. Disabling a destination kills everything it has waiting, which may be a million rows: so each row
 * carries its destination's epoch, a kill is one row in `outbox_cuts`, and rows of a cut epoch read as dead.
 */
import type { DeliveryRow, Table } from '../port.ts'
import { codesOf } from './codes.ts'

export const deliveryStates = codesOf<DeliveryRow['state']>(['pending', 'retrying', 'delivered', 'dead'])
export const PENDING = deliveryStates.code('pending')
export const RETRYING = deliveryStates.code('retrying')
export const DELIVERED = deliveryStates.code('delivered')
export const DEAD = deliveryStates.code('dead')

/** Statuses that a renotify tells. */
export const redeliveries = codesOf(['sent', 'delivered', 'read', 'failed'])

/** Both ids of a delivery follow from its row (outbox-ids.ts). Moments are milliseconds. */
export const deliveries: Table = {
  name: 'deliveries',
  columns: {
    seq: 'INTEGER',
    type: 'INTEGER',
    destinationNo: 'INTEGER',
    epoch: 'INTEGER',
    position: 'INTEGER',
    toldAt: 'INTEGER',
    streamNo: 'INTEGER',
    state: 'INTEGER',
    attempts: 'INTEGER',
    lastError: 'TEXT',
    lastStatus: 'INTEGER',
    nextAttemptAt: 'INTEGER',
    createdAt: 'INTEGER',
    deliveredAt: 'INTEGER',
    redelivery: 'INTEGER'
  },
  keyLength: 1,
  indexes: [
    '(destinationNo, seq)',
    // What is delivered is most of all: it stands in the first index only.
    `(destinationNo, epoch, state, seq) WHERE state <> ${DELIVERED}`,
    '(destinationNo, epoch, nextAttemptAt) WHERE nextAttemptAt IS NOT NULL'
  ],
  fixed: ['type', 'destinationNo', 'position', 'toldAt', 'streamNo', 'createdAt', 'redelivery']
}

/** The log event that brought a message into its present delivery status: what a renotify tells again. */
export const outboxStatuses: Table = {
  name: 'outbox_statuses',
  columns: { messageNo: 'INTEGER', position: 'INTEGER', at: 'INTEGER' },
  keyLength: 1,
  indexes: []
}

/** `destinationNo`: the log's number of the destination's stream. */
export const outboxDestinations: Table = {
  name: 'outbox_destinations',
  columns: {
    destinationNo: 'INTEGER',
    destinationId: 'TEXT',
    tenantId: 'TEXT',
    enabled: 'INTEGER',
    epoch: 'INTEGER',
    unsettled: 'INTEGER',
    failingSince: 'TEXT',
    lastError: 'TEXT'
  },
  keyLength: 1,
  indexes: ['(destinationId)', '(tenantId)', '(destinationId) WHERE unsettled > 0'],
  fixed: ['destinationId', 'tenantId']
}

export const cuts: Table = {
  name: 'outbox_cuts',
  columns: { destinationNo: 'INTEGER', epoch: 'INTEGER', reason: 'TEXT' },
  keyLength: 2,
  indexes: [],
  withoutRowid: true
}

/** Numbers of a tenant's enabled destinations, as JSON. */
export const outboxTenants: Table = {
  name: 'outbox_tenants',
  columns: { tenantId: 'TEXT', destinations: 'TEXT' },
  keyLength: 1,
  indexes: [],
  withoutRowid: true
}

export type StoredDelivery = {
  seq: number
  type: number
  destinationNo: number
  epoch: number
  position: number
  /** When that happened of which it tells. */
  toldAt: number
  streamNo: number
  state: number
  attempts: number
  lastError: string | null
  lastStatus: number | null
  nextAttemptAt: number | null
  createdAt: number
  deliveredAt: number | null
  redelivery: number | null
}
export type StoredStatus = { messageNo: number; position: number; at: number }
