/** Questions of the deliverer, and the list of deliveries. Rows of a cut epoch read as dead (views/outbox-tables.ts). */
import type { Database, Statement } from 'better-sqlite3'
import { decodeCursor, pageOf } from '../cursor.ts'
import type { DeliveryRow, DestinationHealth, Views } from '../port.ts'

type OutboxQueries = Pick<
  Views,
  | 'destinationHealth'
  | 'destinationsWithWork'
  | 'pendingDeliveries'
  | 'dueDeliveryRetries'
  | 'nextDeliveryDue'
  | 'delivery'
  | 'deliveries'
>

const SAME = ['id', 'seq', 'eventId', 'eventType', 'tenantId', 'destinationId', 'position', 'streamNo', 'attempts']
const ALSO_SAME = ['lastStatus', 'createdAt', 'deliveredAt', 'redelivery']
const COLUMNS = [...SAME, ...ALSO_SAME].map(column => `d.${column}`).join(', ')
/** Of an epoch that was not cut, or settled before it was. */
const STANDS = `(c.reason IS NULL OR d.state IN ('delivered', 'dead'))`
const SHOWN = `${COLUMNS},
  CASE WHEN ${STANDS} THEN d.state ELSE 'dead' END AS state,
  CASE WHEN ${STANDS} THEN d.lastError ELSE c.reason END AS lastError,
  CASE WHEN ${STANDS} THEN d.nextAttemptAt ELSE NULL END AS nextAttemptAt`
const CUTS = 'LEFT JOIN outbox_cuts c ON c.destinationId = d.destinationId AND c.epoch = d.epoch'

export function outboxQueries(db: Database): OutboxQueries {
  const health = db.prepare<[string], DestinationHealth>(
    'SELECT failingSince, lastError FROM outbox_destinations WHERE destinationId = ?'
  )
  const withWork = db
    .prepare<[], string>('SELECT destinationId FROM outbox_destinations WHERE unsettled > 0 ORDER BY destinationId')
    .pluck()
  const byId = db.prepare<[string], DeliveryRow>(`SELECT ${SHOWN} FROM deliveries d ${CUTS} WHERE d.id = ?`)
  return {
    destinationHealth: destinationId => health.get(destinationId) ?? { failingSince: null, lastError: null },
    destinationsWithWork: () => withWork.all(),
    ...dueQueries(db),
    delivery(tenantId, deliveryId) {
      const row = byId.get(deliveryId)
      return row && row.tenantId === tenantId ? row : null
    },
    deliveries: deliveryList(db)
  }
}

function dueQueries(db: Database): Pick<Views, 'pendingDeliveries' | 'dueDeliveryRetries' | 'nextDeliveryDue'> {
  const columns = `${COLUMNS}, d.state, d.lastError, d.nextAttemptAt`
  const epoch = '(SELECT epoch FROM outbox_destinations WHERE destinationId = ?)'
  const pending = db.prepare<[string, string, number, number], DeliveryRow>(
    `SELECT ${columns} FROM deliveries d
     WHERE d.state = 'pending' AND d.destinationId = ? AND d.epoch = ${epoch} AND d.seq > ? ORDER BY d.seq LIMIT ?`
  )
  const retrying = db.prepare<[string, string, string, number], DeliveryRow>(
    `SELECT ${columns} FROM deliveries d
     WHERE d.state = 'retrying' AND d.destinationId = ? AND d.epoch = ${epoch} AND d.nextAttemptAt <= ?
     ORDER BY d.nextAttemptAt LIMIT ?`
  )
  const nextRetry = db
    .prepare<[string, string], string | null>(
      `SELECT min(d.nextAttemptAt) FROM deliveries d
       WHERE d.state = 'retrying' AND d.destinationId = ? AND d.epoch = ${epoch}`
    )
    .pluck()
  return {
    pendingDeliveries: (destinationId, afterSeq, limit) => pending.all(destinationId, destinationId, afterSeq, limit),
    // Those that are due first are read; what a page of them holds goes out oldest first.
    dueDeliveryRetries: (destinationId, now, limit) =>
      retrying.all(destinationId, destinationId, now, limit).sort((one, other) => one.seq - other.seq),
    nextDeliveryDue: destinationId => nextRetry.get(destinationId, destinationId) ?? null
  }
}

type Filter = Parameters<Views['deliveries']>[1]

function deliveryList(db: Database): Views['deliveries'] {
  const statements = new Map<string, Statement<unknown[], DeliveryRow>>()

  function statementFor(filter: Filter): Statement<unknown[], DeliveryRow> {
    const conditions = ['d.tenantId = ?', 'd.seq < ?', ...conditionsOf(filter)].join(' AND ')
    let statement = statements.get(conditions)
    if (!statement) {
      statement = db.prepare<unknown[], DeliveryRow>(
        `SELECT ${SHOWN} FROM deliveries d ${CUTS} WHERE ${conditions} ORDER BY d.seq DESC LIMIT ?`
      )
      statements.set(conditions, statement)
    }
    return statement
  }

  return (tenantId, filter, limit, cursor) => {
    const before = cursor === null ? Number.MAX_SAFE_INTEGER : decodeCursor('deliveries', cursor)
    const values = [filter.destinationId, filter.eventType].filter(value => value !== undefined)
    const rows = statementFor(filter).all(tenantId, before, ...values, limit + 1)
    return pageOf(
      'deliveries',
      rows,
      limit,
      row => row.seq,
      row => row
    )
  }
}

function conditionsOf({ state, destinationId, eventType }: Filter): readonly string[] {
  const conditions: string[] = []
  if (destinationId !== undefined) conditions.push('d.destinationId = ?')
  if (eventType !== undefined) conditions.push('d.eventType = ?')
  if (state !== undefined) conditions.push(STATE_CONDITIONS[state] ?? 'FALSE')
  return conditions
}

// What is not delivered is little: the condition lets the small index of such rows serve.
const STATE_CONDITIONS: Readonly<Record<string, string>> = {
  delivered: `d.state = 'delivered'`,
  pending: `d.state <> 'delivered' AND d.state = 'pending' AND c.reason IS NULL`,
  retrying: `d.state <> 'delivered' AND d.state = 'retrying' AND c.reason IS NULL`,
  dead: `d.state <> 'delivered' AND (d.state = 'dead' OR c.reason IS NOT NULL)`
}
