/** The live keys of a tenant, folded from its own stream: right beside a running service, and without any view. */
import { createHash } from 'node:crypto'
import { streamOf } from '../actors/aggregates.ts'
import type { ClaimEvent } from '../domain/claim.ts'
import type { Permission, TenantEvent } from '../domain/tenant.ts'
import { decode } from '../log/codec.ts'
import type { EventLog } from '../log/port.ts'

export type ListedKey = {
  readonly id: string
  readonly name: string
  readonly permissions: readonly Permission[]
  readonly expiresAt: string | null
  readonly createdAt: string
  readonly lastFour: string
}
export type TenantKeys = { readonly tenantId: string; readonly items: readonly ListedKey[] }

/** Null when no tenant has this name. */
export async function readKeys(log: EventLog, tenantName: string): Promise<TenantKeys | null> {
  const tenantId = await tenantNamed(log, tenantName)
  if (tenantId === null) return null
  const keys = new Map<string, ListedKey>()
  for await (const recorded of log.read(streamOf.tenant(tenantId))) {
    const event = decode<TenantEvent>(recorded)
    if (event.type === 'ApiKeyRevoked') keys.delete(event.data.keyId)
    if (event.type !== 'ApiKeyCreated') continue
    const { keyId, name, permissions, lastFour, expiresAt = null } = event.data
    keys.set(keyId, { id: keyId, name, permissions, expiresAt, createdAt: event.at, lastFour })
  }
  return { tenantId, items: [...keys.values()] }
}

async function tenantNamed(log: EventLog, name: string): Promise<string | null> {
  const digest = createHash('sha256').update(name).digest('hex')
  for await (const recorded of log.read(streamOf.tenantName(digest))) {
    const event = decode<ClaimEvent>(recorded)
    if (event.type === 'TenantNamed') return event.data.tenantId
  }
  return null
}
