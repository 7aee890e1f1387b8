/** Which destinations a tenant has enabled, as the outbox needs to know it. */
import type { DestinationEvent } from '../../domain/destination.ts'
import type { RecordedOf, Rows, Touch } from '../port.ts'
import { cuts, outboxDestinations, outboxTenants } from './outbox-tables.ts'
import { destinationIdOf } from './stream-ids.ts'

export type OutboxDestination = {
  destinationId: string
  tenantId: string
  enabled: number
  /** Raised by everything that kills what is waiting. */
  epoch: number
  /** Deliveries of this epoch that are pending or retrying. */
  unsettled: number
  failingSince: string | null
  lastError: string | null
}
type TenantRow = { tenantId: string; destinations: string }

export const findDestination = (rows: Rows, destinationId: string): OutboxDestination | undefined =>
  rows.get<OutboxDestination>(outboxDestinations, [destinationId])

/** Oldest first. Events of the service itself have no tenant and go nowhere. */
export function enabledDestinations(rows: Rows, tenantId: string | null): readonly string[] {
  if (tenantId === null) return []
  const row = rows.get<TenantRow>(outboxTenants, [tenantId])
  return row ? (JSON.parse(row.destinations) as string[]) : []
}

export function changeDestination(event: RecordedOf<DestinationEvent>, rows: Rows, touch: Touch): void {
  const destinationId = destinationIdOf(event.stream)
  if (event.type === 'DestinationCreated') {
    const { tenantId } = event.data
    rows.put(outboxDestinations, {
      destinationId,
      tenantId,
      enabled: 1,
      epoch: 0,
      unsettled: 0,
      failingSince: null,
      lastError: null
    })
    enable(rows, tenantId, destinationId, true)
    return
  }
  const row = findDestination(rows, destinationId)
  if (!row) return
  switch (event.type) {
    case 'DestinationChanged': {
      const { enabled } = event.data
      if (enabled === undefined) return
      rows.put(outboxDestinations, { ...row, enabled: Number(enabled) })
      enable(rows, row.tenantId, destinationId, enabled)
      return
    }
    case 'DestinationDisabled':
      cut(row, 'destination_disabled', rows, touch)
      return
    case 'DestinationRemoved':
      cut(row, 'destination_removed', rows, touch)
  }
}

function cut(row: OutboxDestination, reason: string, rows: Rows, touch: Touch): void {
  const { destinationId, tenantId, epoch } = row
  rows.put(cuts, { destinationId, epoch, reason })
  rows.put(outboxDestinations, { ...row, enabled: 0, epoch: epoch + 1, unsettled: 0 })
  enable(rows, tenantId, destinationId, false)
  touch('outbox', destinationId)
}

function enable(rows: Rows, tenantId: string, destinationId: string, enabled: boolean): void {
  const others = enabledDestinations(rows, tenantId).filter(id => id !== destinationId)
  const destinations = JSON.stringify(enabled ? [...others, destinationId] : others)
  rows.put(outboxTenants, { tenantId, destinations })
}
