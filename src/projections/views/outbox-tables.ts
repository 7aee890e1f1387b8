/**
 * Tables of the outbox. Disabling a destination kills everything it has waiting, which may be a million rows: so each row
 * carries its destination's epoch, a kill is one row in `outbox_cuts`, and rows of a cut epoch read as dead.
 */
import type { DeliveryRow, Table } from '../port.ts'

export const deliveries: Table = {
  name: 'deliveries',
  columns: {
    id: 'TEXT',
    seq: 'INTEGER',
    eventId: 'TEXT',
    eventType: 'TEXT',
    tenantId: 'TEXT',
    destinationId: 'TEXT',
    epoch: 'INTEGER',
    position: 'INTEGER',
    streamNo: 'INTEGER',
    state: 'TEXT',
    attempts: 'INTEGER',
    lastError: 'TEXT',
    lastStatus: 'INTEGER',
    nextAttemptAt: 'TEXT',
    createdAt: 'TEXT',
    deliveredAt: 'TEXT',
    redelivery: 'TEXT'
  },
  keyLength: 1,
  indexes: [
    '(tenantId, seq)',
    `(tenantId, seq) WHERE state <> 'delivered'`,
    `(destinationId, epoch, seq) WHERE state = 'pending'`,
    `(destinationId, epoch, nextAttemptAt) WHERE state = 'retrying'`
  ],
  // Ids begin with their time: new rows go to the end of the tree.
  withoutRowid: true,
  fixed: [
    'seq',
    'eventId',
    'eventType',
    'tenantId',
    'destinationId',
    'epoch',
    'position',
    'streamNo',
    'createdAt',
    'redelivery'
  ]
}

/** The log event that brought a message into its present delivery status: what a renotify tells again. */
export const outboxStatuses: Table = {
  name: 'outbox_statuses',
  columns: { messageNo: 'INTEGER', eventId: 'TEXT', position: 'INTEGER' },
  keyLength: 1,
  indexes: []
}

export const outboxDestinations: Table = {
  name: 'outbox_destinations',
  columns: {
    destinationId: 'TEXT',
    tenantId: 'TEXT',
    enabled: 'INTEGER',
    epoch: 'INTEGER',
    unsettled: 'INTEGER',
    failingSince: 'TEXT',
    lastError: 'TEXT'
  },
  keyLength: 1,
  indexes: ['(destinationId) WHERE unsettled > 0'],
  withoutRowid: true
}

export const cuts: Table = {
  name: 'outbox_cuts',
  columns: { destinationId: 'TEXT', epoch: 'INTEGER', reason: 'TEXT' },
  keyLength: 2,
  indexes: [],
  withoutRowid: true
}

/** A tenant's enabled destinations, as JSON. */
export const outboxTenants: Table = {
  name: 'outbox_tenants',
  columns: { tenantId: 'TEXT', destinations: 'TEXT' },
  keyLength: 1,
  indexes: [],
  withoutRowid: true
}

export type StoredDelivery = { -readonly [K in keyof DeliveryRow]: DeliveryRow[K] } & { epoch: number }
export type StoredStatus = { messageNo: number; eventId: string; position: number }
