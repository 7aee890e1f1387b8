/** What the attempts of a delivery came to, and dead ones that are taken up again. */
import type { DeliveryOutcome } from '../../domain/record.ts'
import type { Rows, Touch } from '../port.ts'
import { findDestination, type OutboxDestination } from './outbox-destinations.ts'
import { seqOf } from './outbox-ids.ts'
import {
  DEAD,
  DELIVERED,
  deliveries,
  deliveryStates,
  outboxDestinations,
  PENDING,
  type StoredDelivery
} from './outbox-tables.ts'
import { toMs } from './time.ts'

type Found = { readonly row: StoredDelivery; readonly destination: OutboxDestination }

function find(deliveryId: string, rows: Rows): Found | null {
  const seq = seqOf(deliveryId)
  const row = seq === null ? undefined : rows.get<StoredDelivery>(deliveries, [seq])
  const destination = row && findDestination(rows, row.destinationNo)
  return row && destination ? { row, destination } : null
}

/** A late outcome of a delivery that is settled, by itself or by its destination's end, changes nothing. */
export function settleDelivery(outcome: DeliveryOutcome, rows: Rows, touch: Touch): void {
  const found = find(outcome.deliveryId, rows)
  if (!found) return
  const { row, destination } = found
  if (row.state === DELIVERED || row.state === DEAD || row.epoch !== destination.epoch) return
  const isDelivered = outcome.state === 'delivered'
  row.state = deliveryStates.code(outcome.state)
  row.attempts = Math.max(row.attempts, outcome.attempt)
  row.lastError = outcome.error
  row.lastStatus = outcome.status
  row.nextAttemptAt = outcome.state === 'retrying' ? toMs(outcome.nextAttemptAt ?? outcome.at) : null
  row.deliveredAt = isDelivered ? toMs(outcome.at) : null
  rows.put(deliveries, row)
  if (outcome.state !== 'retrying') destination.unsettled -= 1
  destination.failingSince = isDelivered ? null : (destination.failingSince ?? outcome.at)
  destination.lastError = isDelivered ? null : outcome.error
  rows.put(outboxDestinations, destination)
  touch('outbox', destination.destinationId)
}

/**
 * A dead delivery waits again, and is due at once; its attempts stay counted. One whose destination is not enabled stays
 * dead: nobody would send it.
 */
export function reviveDelivery(deliveryId: string, at: string, rows: Rows, touch: Touch): void {
  const found = find(deliveryId, rows)
  if (!found || found.destination.enabled === 0) return
  const { row, destination } = found
  const isDead = row.state === DEAD || (row.state !== DELIVERED && row.epoch !== destination.epoch)
  if (!isDead) return
  row.state = PENDING
  row.epoch = destination.epoch
  row.nextAttemptAt = toMs(at)
  rows.put(deliveries, row)
  destination.unsettled += 1
  rows.put(outboxDestinations, destination)
  touch('outbox', destination.destinationId)
}
