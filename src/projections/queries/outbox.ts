/** Questions of the deliverer, and those about single deliveries. */
import type { Database } from 'better-sqlite3'
import { LIMIT, LIMIT_BY_NAME } from '../../log/sqlite/limit.ts'
import type { DestinationHealth, Views } from '../port.ts'
import { PLACES_PER_EVENT, PLACES_PER_TYPE } from '../views/outbox.ts'
import { seqOf, webhookTypes } from '../views/outbox-ids.ts'
import { DELIVERED, PENDING, RETRYING } from '../views/outbox-tables.ts'
import { toIso, toMs } from '../views/time.ts'
import { DELIVERY_COLUMNS, DELIVERY_JOINS, deliveryRow, type ReadDelivery } from './delivery-rows.ts'
import type { Numbers } from './numbers.ts'

type OutboxQueries = Pick<
  Views,
  | 'destinationHealth'
  | 'destinationsWithWork'
  | 'pendingDeliveries'
  | 'dueDeliveryRetries'
  | 'nextDeliveryDue'
  | 'delivery'
  | 'unsettledDeliveriesOf'
>

export function outboxQueries(db: Database, numbers: Numbers): OutboxQueries {
  const health = db.prepare<[string], DestinationHealth>(
    'SELECT failingSince, lastError FROM outbox_destinations WHERE destinationId = ?'
  )
  const withWork = db
    .prepare<[], string>('SELECT destinationId FROM outbox_destinations WHERE unsettled > 0 ORDER BY destinationId')
    .pluck()
  const bySeq = db.prepare<[number], ReadDelivery>(
    `SELECT ${DELIVERY_COLUMNS} FROM deliveries d ${DELIVERY_JOINS} WHERE d.seq = ?`
  )
  return {
    destinationHealth: destinationId => health.get(destinationId) ?? { failingSince: null, lastError: null },
    destinationsWithWork: () => withWork.all(),
    ...dueQueries(db),
    delivery(tenantId, deliveryId) {
      const seq = seqOf(deliveryId)
      const stored = seq === null ? undefined : bySeq.get(seq)
      const row = stored && deliveryRow(stored)
      return row && row.id === deliveryId && row.tenantId === tenantId ? row : null
    },
    unsettledDeliveriesOf: contactDeliveries(db, numbers)
  }
}

/** The destination leads: its present epoch is the one that counts. */
const OF_DESTINATION = `FROM outbox_destinations o CROSS JOIN deliveries d ON d.destinationNo = o.destinationNo AND d.epoch = o.epoch
  WHERE o.destinationId = ?`

function dueQueries(db: Database): Pick<Views, 'pendingDeliveries' | 'dueDeliveryRetries' | 'nextDeliveryDue'> {
  const columns = 'd.*, o.destinationId, o.tenantId, NULL AS cut'
  const pending = db.prepare<[string, number, number], ReadDelivery>(
    `SELECT ${columns} ${OF_DESTINATION} AND d.state <> ${DELIVERED} AND d.state = ${PENDING} AND d.seq > ?
       AND d.nextAttemptAt IS NULL
     ORDER BY d.seq ${LIMIT}`
  )
  const waiting = db.prepare<[string, number, number], ReadDelivery>(
    `SELECT ${columns} ${OF_DESTINATION} AND d.nextAttemptAt <= ? ORDER BY d.nextAttemptAt ${LIMIT}`
  )
  const next = db
    .prepare<[string], number | null>(
      `SELECT d.nextAttemptAt ${OF_DESTINATION} AND d.nextAttemptAt IS NOT NULL ORDER BY d.nextAttemptAt LIMIT 1`
    )
    .pluck()
  return {
    pendingDeliveries: (destinationId, afterSeq, limit) => pending.all(destinationId, afterSeq, limit).map(deliveryRow),
    // Those that are due first are read; what a page of them holds goes out oldest first.
    dueDeliveryRetries: (destinationId, now, limit) =>
      waiting
        .all(destinationId, toMs(now), limit)
        .map(deliveryRow)
        .sort((one, other) => one.seq - other.seq),
    nextDeliveryDue(destinationId) {
      const due = next.get(destinationId) ?? null
      return due === null ? null : toIso(due)
    }
  }
}

/** The places of a message's deliveries follow from its events, and lead to them without an index. */
function contactDeliveries(db: Database, numbers: Numbers): Views['unsettledDeliveriesOf'] {
  const unsettled = `o.tenantId = @tenantId AND d.epoch = o.epoch AND d.state IN (${PENDING}, ${RETRYING})`
  const deliveriesAt = (position: string, type: string) => `
    CROSS JOIN deliveries d ON d.seq >= ${position} * ${PLACES_PER_EVENT}
      AND d.seq < ${position} * ${PLACES_PER_EVENT} + ${PLACES_PER_TYPE} AND d.type = ${type}
    JOIN outbox_destinations o ON o.destinationNo = d.destinationNo`
  const columns = 'd.*, o.destinationId, o.tenantId, NULL AS cut'
  const sent = webhookTypes.code('message.sent')
  const received = webhookTypes.code('message.received')
  const statement = db.prepare<[{ contactNo: number; tenantId: string; limit: number }], ReadDelivery>(
    `SELECT ${columns} FROM messages m INDEXED BY messages_2 ${deliveriesAt('m.sentPosition', `${sent}`)}
       WHERE m.contactNo = @contactNo AND ${unsettled}
     UNION ALL SELECT ${columns} FROM received m ${deliveriesAt('m.position', `${received}`)}
       WHERE m.contactNo = @contactNo AND ${unsettled}
     ${LIMIT_BY_NAME}`
  )
  return (tenantId, contactId, limit) => {
    const contactNo = numbers.contact(contactId)
    return contactNo === null ? [] : statement.all({ contactNo, tenantId, limit }).map(deliveryRow)
  }
}
