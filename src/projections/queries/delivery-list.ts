/**
 * The list of deliveries, newest first. The indexes keep each destination by itself, and in it each epoch and state: what
 * matches is some such runs, of which the newest rows of each are read and merged.
 */
import type { Database } from 'better-sqlite3'
import { LIMIT_BY_NAME } from '../../log/sqlite/limit.ts'
import { decodeNumber, pageOf } from '../cursor.ts'
import type { Views } from '../port.ts'
import { webhookTypes } from '../views/outbox-ids.ts'
import { DEAD, DELIVERED, PENDING, RETRYING } from '../views/outbox-tables.ts'
import { DELIVERY_COLUMNS, DELIVERY_JOINS, deliveryRow, type ReadDelivery } from './delivery-rows.ts'

type Filter = Parameters<Views['deliveries']>[1]
type Destination = { readonly destinationNo: number; readonly destinationId: string; readonly epoch: number }
/** Rows of one destination in the order of their places: all, the delivered ones, or one epoch in one other state. */
type Run = {
  readonly destinationNo: number
  readonly kind: 'all' | 'delivered' | 'open'
  readonly epoch: number
  readonly state: number
}
type RunParameters = Run & { readonly before: number; readonly limit: number; readonly type: number | null }

export function deliveryListQuery(db: Database): Views['deliveries'] {
  const destinations = db.prepare<[string], Destination>(
    'SELECT destinationNo, destinationId, epoch FROM outbox_destinations WHERE tenantId = ?'
  )
  const select = `SELECT ${DELIVERY_COLUMNS} FROM deliveries d INDEXED BY`
  const rest = `AND d.seq < @before AND (@type IS NULL OR d.type = @type) ORDER BY d.seq DESC ${LIMIT_BY_NAME}`
  const readers = {
    all: db.prepare<[RunParameters], ReadDelivery>(
      `${select} deliveries_0 ${DELIVERY_JOINS} WHERE d.destinationNo = @destinationNo ${rest}`
    ),
    delivered: db.prepare<[RunParameters], ReadDelivery>(
      `${select} deliveries_0 ${DELIVERY_JOINS} WHERE d.destinationNo = @destinationNo AND d.state = ${DELIVERED} ${rest}`
    ),
    open: db.prepare<[RunParameters], ReadDelivery>(
      `${select} deliveries_1 ${DELIVERY_JOINS}
       WHERE d.destinationNo = @destinationNo AND d.state <> ${DELIVERED} AND d.epoch = @epoch AND d.state = @state ${rest}`
    )
  }

  return (tenantId, filter, limit, cursor) => {
    const before = decodeNumber('deliveries', cursor, Number.MAX_SAFE_INTEGER)
    const type = filter.eventType === undefined ? null : webhookTypes.find(filter.eventType)
    const isUnknownType = filter.eventType !== undefined && type === null
    const rows = (isUnknownType ? [] : destinations.all(tenantId))
      .filter(({ destinationId }) => filter.destinationId === undefined || destinationId === filter.destinationId)
      .flatMap(destination => runsOf(destination, filter.state))
      .flatMap(run => readers[run.kind].all({ ...run, before, type, limit: limit + 1 }))
      .sort((one, other) => other.seq - one.seq)
    return pageOf('deliveries', rows, limit, row => [row.seq], deliveryRow)
  }
}

function runsOf({ destinationNo, epoch }: Destination, state: Filter['state']): readonly Run[] {
  const open = (ofEpoch: number, ofState: number): Run => ({
    destinationNo,
    kind: 'open',
    epoch: ofEpoch,
    state: ofState
  })
  switch (state) {
    case undefined:
      return [{ destinationNo, kind: 'all', epoch, state: 0 }]
    case 'delivered':
      return [{ destinationNo, kind: 'delivered', epoch, state: DELIVERED }]
    case 'pending':
      return [open(epoch, PENDING)]
    case 'retrying':
      return [open(epoch, RETRYING)]
    case 'dead': {
      const earlier = Array.from({ length: epoch }, (_, index) => index)
      return [open(epoch, DEAD), ...earlier.flatMap(cut => [PENDING, RETRYING, DEAD].map(one => open(cut, one)))]
    }
    default:
      return []
  }
}
