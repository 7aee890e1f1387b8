/** Tenants, their API keys (found by digest) and the risks that they accepted. */
import type { TenantEvent } from '../../domain/tenant.ts'
import type { Projection, RecordedOf, Table } from '../port.ts'
import { tenantIdOf } from './stream-ids.ts'

export const tenants: Table = {
  name: 'tenants',
  columns: { tenantId: 'TEXT', name: 'TEXT', position: 'INTEGER' },
  keyLength: 1,
  indexes: ['(name)', '(position)'],
  withoutRowid: true
}

export const keys: Table = {
  name: 'keys',
  columns: {
    digest: 'TEXT',
    id: 'TEXT',
    tenantId: 'TEXT',
    name: 'TEXT',
    permissions: 'TEXT',
    expiresAt: 'TEXT',
    createdAt: 'TEXT',
    lastFour: 'TEXT',
    revoked: 'INTEGER',
    position: 'INTEGER'
  },
  keyLength: 1,
  indexes: ['(tenantId, position)'],
  withoutRowid: true
}

export const risks: Table = {
  name: 'risks',
  columns: { tenantId: 'TEXT', track: 'TEXT', termsVersion: 'TEXT', acceptedAt: 'TEXT' },
  keyLength: 3,
  indexes: [],
  withoutRowid: true
}

export type StoredKey = {
  digest: string
  id: string
  tenantId: string
  name: string
  permissions: string
  expiresAt: string | null
  createdAt: string
  lastFour: string
  revoked: number
  position: number
}
type Handled = Extract<TenantEvent, { type: 'TenantCreated' | 'ApiKeyCreated' | 'ApiKeyRevoked' | 'RiskAccepted' }>

export const keysProjection: Projection = {
  name: 'keys',
  version: 1,
  tables: [tenants, keys, risks],
  handles: ['TenantCreated', 'ApiKeyCreated', 'ApiKeyRevoked', 'RiskAccepted'],
  apply(recorded, rows, touch) {
    const event = recorded as RecordedOf<Handled>
    const tenantId = tenantIdOf(event.stream)
    switch (event.type) {
      case 'TenantCreated':
        return rows.put(tenants, { tenantId, name: event.data.name, position: event.position })
      case 'ApiKeyCreated':
        touch('key', event.data.digest)
        return rows.put(keys, createdKey(event, tenantId))
      case 'ApiKeyRevoked': {
        const key = rows.get<StoredKey>(keys, [event.data.digest])
        touch('key', event.data.digest)
        if (key) rows.put(keys, { ...key, revoked: 1 })
        return
      }
      case 'RiskAccepted': {
        const { track, termsVersion } = event.data
        if (rows.get(risks, [tenantId, track, termsVersion])) return
        return rows.put(risks, { tenantId, track, termsVersion, acceptedAt: event.at })
      }
    }
  }
}

function createdKey(event: RecordedOf<Extract<Handled, { type: 'ApiKeyCreated' }>>, tenantId: string): StoredKey {
  const { digest, keyId, name, permissions, expiresAt, lastFour } = event.data
  return {
    digest,
    id: keyId,
    tenantId,
    name,
    permissions: JSON.stringify(permissions),
    expiresAt: expiresAt ?? null,
    createdAt: event.at,
    lastFour,
    revoked: 0,
    position: event.position
  }
}
