/** Which destinations a tenant has enabled, as the outbox needs to know it. */
import type { DestinationEvent } from '../../domain/destination.ts'
import type { RecordedOf, Rows, Touch } from '../port.ts'
import { cuts, outboxDestinations, outboxTenants } from './outbox-tables.ts'
import { destinationIdOf } from './stream-ids.ts'

export type OutboxDestination = {
  destinationNo: number
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

export const findDestination = (rows: Rows, destinationNo: number): OutboxDestination | undefined =>
  rows.get<OutboxDestination>(outboxDestinations, [destinationNo])

/** Oldest first. Events of the service itself have no tenant and go nowhere. */
export function enabledDestinations(rows: Rows, tenantId: string | null): readonly number[] {
  if (tenantId === null) return []
  const row = rows.get<TenantRow>(outboxTenants, [tenantId])
  return row ? (JSON.parse(row.destinations) as number[]) : []
}

export function changeDestination(event: RecordedOf<DestinationEvent>, rows: Rows, touch: Touch): void {
  const { streamNo: destinationNo } = event
  if (event.type === 'DestinationCreated') {
    const { tenantId } = event.data
    rows.put(outboxDestinations, {
      destinationNo,
      destinationId: destinationIdOf(event.stream),
      tenantId,
      enabled: 1,
      epoch: 0,
      unsettled: 0,
      failingSince: null,
      lastError: null
    })
    enable(rows, tenantId, destinationNo, true)
    return
  }
  const row = findDestination(rows, destinationNo)
  if (!row) return
  switch (event.type) {
    case 'DestinationChanged': {
      const { enabled } = event.data
      if (enabled === undefined) return
      rows.put(outboxDestinations, { ...row, enabled: Number(enabled) })
      enable(rows, row.tenantId, destinationNo, enabled)
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
  const { destinationNo, destinationId, tenantId, epoch } = row
  rows.put(cuts, { destinationNo, epoch, reason })
  rows.put(outboxDestinations, { ...row, enabled: 0, epoch: epoch + 1, unsettled: 0 })
  enable(rows, tenantId, destinationNo, false)
  touch('outbox', destinationId)
}

function enable(rows: Rows, tenantId: string, destinationNo: number, enabled: boolean): void {
  const others = enabledDestinations(rows, tenantId).filter(no => no !== destinationNo)
  const destinations = JSON.stringify(enabled ? [...others, destinationNo] : others)
  rows.put(outboxTenants, { tenantId, destinations })
}
