/** Webhook destinations as their tenant configured them. */
import type { DestinationEvent } from '../../domain/destination.ts'
import type { Projection, RecordedOf, Table } from '../port.ts'
import { destinationIdOf } from './stream-ids.ts'

export const destinations: Table = {
  name: 'destinations',
  columns: {
    id: 'TEXT',
    tenantId: 'TEXT',
    url: 'TEXT',
    secretLast4: 'TEXT',
    enabled: 'INTEGER',
    createdAt: 'TEXT',
    position: 'INTEGER'
  },
  keyLength: 1,
  indexes: ['(tenantId, position)'],
  withoutRowid: true
}

export type StoredDestination = {
  id: string
  tenantId: string
  url: string
  secretLast4: string
  enabled: number
  createdAt: string
  position: number
}

export const destinationsProjection: Projection = {
  name: 'destinations',
  version: 1,
  tables: [destinations],
  handles: [
    'DestinationCreated',
    'DestinationChanged',
    'DestinationSecretRotated',
    'DestinationDisabled',
    'DestinationRemoved'
  ],
  apply(recorded, rows, touch) {
    const event = recorded as RecordedOf<DestinationEvent>
    const id = destinationIdOf(event.stream)
    touch('destination', id)
    if (event.type === 'DestinationCreated') {
      const { tenantId, url, secretLast4 } = event.data
      const { at: createdAt, position } = event
      return rows.put(destinations, { id, tenantId, url, secretLast4, enabled: 1, createdAt, position })
    }
    const row = rows.get<StoredDestination>(destinations, [id])
    if (!row) return
    switch (event.type) {
      case 'DestinationChanged': {
        const { url = row.url, enabled } = event.data
        return rows.put(destinations, { ...row, url, enabled: enabled === undefined ? row.enabled : Number(enabled) })
      }
      case 'DestinationSecretRotated':
        return rows.put(destinations, { ...row, secretLast4: event.data.secretLast4 })
      case 'DestinationDisabled':
        return rows.put(destinations, { ...row, enabled: 0 })
      case 'DestinationRemoved':
        return rows.delete(destinations, [id])
    }
  }
}
