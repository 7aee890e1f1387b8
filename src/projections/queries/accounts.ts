/** Questions about tenants: API keys, accepted risks, webhook destinations. */
import type { Database } from 'better-sqlite3'
import type { Permission } from '../../domain/tenant.ts'
import type { DestinationRow, KeyRow, RiskRow, Views } from '../port.ts'
import type { Recall } from '../recall.ts'
import type { StoredDestination } from '../views/destinations.ts'
import type { StoredKey } from '../views/keys.ts'

type AccountQueries = Pick<
  Views,
  'keyByDigest' | 'keys' | 'tenantByName' | 'tenantIds' | 'hasRisk' | 'risks' | 'destination' | 'destinations'
>

export function accountQueries(
  db: Database,
  knownKeys: Recall<KeyRow>,
  knownDestinations: Recall<DestinationRow>
): AccountQueries {
  const byDigest = db.prepare<[string], StoredKey>('SELECT * FROM keys WHERE digest = ?')
  const keysOf = db.prepare<[string], StoredKey>('SELECT * FROM keys WHERE tenantId = ? ORDER BY position')
  const byName = db
    .prepare<[string], string>('SELECT tenantId FROM tenants WHERE name = ? ORDER BY position LIMIT 1')
    .pluck()
  const tenantIds = db.prepare<[], string>('SELECT tenantId FROM tenants ORDER BY position').pluck()
  const risk = db.prepare('SELECT 1 FROM risks WHERE tenantId = ? AND track = ? AND termsVersion = ?').pluck()
  const risksOf = db.prepare<[string], RiskRow>(
    'SELECT track, termsVersion, acceptedAt FROM risks WHERE tenantId = ? ORDER BY acceptedAt, track, termsVersion'
  )
  const destination = db.prepare<[string], StoredDestination>('SELECT * FROM destinations WHERE id = ?')
  const destinationsOf = db.prepare<[string], StoredDestination>(
    'SELECT * FROM destinations WHERE tenantId = ? ORDER BY position'
  )
  return {
    keyByDigest: digest =>
      knownKeys.of(digest, () => {
        const row = byDigest.get(digest)
        return row ? keyRow(row) : null
      }),
    keys: tenantId => keysOf.all(tenantId).map(keyRow),
    tenantByName: name => byName.get(name) ?? null,
    tenantIds: () => tenantIds.all(),
    hasRisk: (tenantId, track, termsVersion) => risk.get(tenantId, track, termsVersion) !== undefined,
    risks: tenantId => risksOf.all(tenantId),
    destination(tenantId, destinationId) {
      const row = knownDestinations.of(destinationId, () => {
        const stored = destination.get(destinationId)
        return stored ? destinationRow(stored) : null
      })
      return row?.tenantId === tenantId ? row : null
    },
    destinations: tenantId => destinationsOf.all(tenantId).map(destinationRow)
  }
}

function keyRow(row: StoredKey): KeyRow {
  const { digest, position, permissions, revoked, ...shown } = row
  return { ...shown, permissions: JSON.parse(permissions) as Permission[], revoked: revoked === 1 }
}

function destinationRow(row: StoredDestination): DestinationRow {
  const { position, enabled, ...shown } = row
  return { ...shown, enabled: enabled === 1 }
}
