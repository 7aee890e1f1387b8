/** A tenant's destinations and what comes of their deliveries, for tests of the outbox. */
import type { Event } from '../../src/domain/event.ts'
import type { DeliveryOutcome } from '../../src/domain/record.ts'
import type { OpenedViews } from '../../src/projections/open-views.ts'
import { at, type History, idOf, TENANT } from './history.ts'

export const CHANNEL = idOf('ch', 'one')
export const MESSAGE = `message-${idOf('msg', 'one')}`
export const FIRST = idOf('whd', 'first')
export const SECOND = idOf('whd', 'second')

export function register(history: History, destinationId: string, second = 0): void {
  const data = { destinationId, tenantId: TENANT, url: `https://${destinationId}.example`, secretLast4: 'last' }
  history.append(`destination-${destinationId}`, [{ type: 'DestinationCreated', at: at(second), data }])
}
export const change = (history: History, destinationId: string, type: string, data: unknown = {}) =>
  history.append(`destination-${destinationId}`, [{ type, at: at(60), data }])

export const sent: Event = { type: 'MessageSent', at: at(10), data: { attempt: 1, by: 'answer' } }
export const delivered: Event = { type: 'MessageDelivered', at: at(11), data: {} }

export const all = (views: OpenedViews) => views.deliveries(TENANT, {}, 100, null).items
export const summary = (views: OpenedViews) =>
  all(views).map(row => `${row.eventType} ${row.destinationId === FIRST ? 'first' : 'second'} ${row.state}`)

export function settled(history: History, ...outcomes: readonly Partial<DeliveryOutcome>[]): void {
  const full = outcomes.map(outcome => ({
    position: 1,
    destinationId: FIRST,
    state: 'delivered',
    attempt: 1,
    at: at(20),
    status: 200,
    error: null,
    durationMs: 5,
    ...outcome
  }))
  history.append('outcomes-1-20260105', [{ type: 'DeliveriesSettled', at: at(20), data: { outcomes: full } }], {
    tenant: null
  })
}
