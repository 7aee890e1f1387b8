/** What the attempts of a delivery came to. */
import type { DeliveryOutcome } from '../../domain/record.ts'
import type { Rows, Touch } from '../port.ts'
import { findDestination, type OutboxDestination } from './outbox-destinations.ts'
import { deliveries, outboxDestinations, type StoredDelivery } from './outbox-tables.ts'

/** A late outcome of a delivery that is settled, by itself or by its destination's end, changes nothing. */
export function settleDelivery(outcome: DeliveryOutcome, rows: Rows, touch: Touch): void {
  const row = rows.get<StoredDelivery>(deliveries, [outcome.deliveryId])
  const destination = row && findDestination(rows, row.destinationId)
  if (!row || !destination) return
  if (row.state === 'delivered' || row.state === 'dead' || row.epoch !== destination.epoch) return
  const isDelivered = outcome.state === 'delivered'
  rows.put(deliveries, {
    ...row,
    state: outcome.state,
    attempts: Math.max(row.attempts, outcome.attempt),
    lastError: outcome.error,
    lastStatus: outcome.status,
    nextAttemptAt: outcome.state === 'retrying' ? (outcome.nextAttemptAt ?? outcome.at) : null,
    deliveredAt: isDelivered ? outcome.at : null
  })
  const health = isDelivered
    ? { failingSince: null, lastError: null }
    : { failingSince: destination.failingSince ?? outcome.at, lastError: outcome.error }
  const unsettled = destination.unsettled - (outcome.state === 'retrying' ? 0 : 1)
  const next: OutboxDestination = { ...destination, ...health, unsettled }
  rows.put(outboxDestinations, next)
  touch('outbox', row.destinationId)
}
