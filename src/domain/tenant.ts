/** A tenant (workspace): its API keys, its accepted risks and the register of its webhook destinations. Stream: `tenant-tn_…`. */
import { type Decider, type Event, type Rejection, reject, sealedBy } from './event.ts'

export const PERMISSIONS = [
  'messages:send',
  'messages:read',
  'channels:read',
  'channels:write',
  'webhooks:read',
  'webhooks:write',
  'compliance:write',
  'keys:write'
] as const
export type Permission = (typeof PERMISSIONS)[number]

/** What a new key may do unless told otherwise: all but making keys. */
export const DEFAULT_PERMISSIONS: readonly Permission[] = PERMISSIONS.filter(permission => permission !== 'keys:write')

export const DESTINATIONS_MAX = 5

export type DestinationSecrets = { readonly secret: string }
export type TenantEvent =
  | Event<'TenantCreated', { readonly tenantId: string; readonly name: string }>
  | Event<
      'ApiKeyCreated',
      {
        readonly keyId: string
        readonly name: string
        /** SHA-256 of the key, hex. The key itself is never stored. */
        readonly digest: string
        readonly permissions: readonly Permission[]
        readonly lastFour: string
        readonly expiresAt?: string
      }
    >
  | Event<'ApiKeyRevoked', { readonly keyId: string; readonly digest: string }>
  | Event<'RiskAccepted', { readonly track: string; readonly termsVersion: string }>
  /** Carries the whole creation of the destination; the destination's own stream follows. */
  | Event<'DestinationRegistered', { readonly destinationId: string; readonly url: string }, DestinationSecrets>
  | Event<'DestinationReaddressed', { readonly destinationId: string; readonly url: string }>
  | Event<'DestinationDeregistered', { readonly destinationId: string }>

type KeyEntry = { readonly digest: string; readonly permissions: readonly Permission[] }
export type Tenant = {
  readonly exists: boolean
  readonly id: string
  readonly name: string
  readonly keys: Readonly<Record<string, KeyEntry>>
  readonly risks: readonly string[]
  /** Destination id → url. */
  readonly destinations: Readonly<Record<string, string>>
}

export type TenantCommand =
  | { readonly type: 'Create'; readonly at: string; readonly tenantId: string; readonly name: string }
  | {
      readonly type: 'CreateKey'
      readonly at: string
      readonly keyId: string
      readonly name: string
      readonly digest: string
      readonly permissions: readonly Permission[]
      readonly lastFour: string
      readonly expiresAt: string | null
    }
  | { readonly type: 'RevokeKey'; readonly at: string; readonly keyId: string }
  | { readonly type: 'AcceptRisk'; readonly at: string; readonly track: string; readonly termsVersion: string }
  | {
      readonly type: 'RegisterDestination'
      readonly at: string
      readonly destinationId: string
      readonly url: string
      readonly secrets: DestinationSecrets
    }
  | { readonly type: 'ReaddressDestination'; readonly at: string; readonly destinationId: string; readonly url: string }
  | { readonly type: 'DeregisterDestination'; readonly at: string; readonly destinationId: string }

const initial: Tenant = { exists: false, id: '', name: '', keys: {}, risks: [], destinations: {} }

export const riskName = (track: string, termsVersion: string): string => `${track}/${termsVersion}`

function decide(tenant: Tenant, command: TenantCommand): readonly TenantEvent[] | Rejection {
  const { at } = command
  if (command.type === 'Create') {
    if (tenant.exists) return []
    return [{ type: 'TenantCreated', at, data: { tenantId: command.tenantId, name: command.name } }]
  }
  if (!tenant.exists) return reject('resource_not_found')
  switch (command.type) {
    case 'CreateKey': {
      if (held(tenant.keys, command.keyId)) return []
      const { keyId, name, digest, permissions, lastFour, expiresAt } = command
      const expiry = expiresAt === null ? {} : { expiresAt }
      return [{ type: 'ApiKeyCreated', at, data: { keyId, name, digest, permissions, lastFour, ...expiry } }]
    }
    case 'RevokeKey': {
      const key = held(tenant.keys, command.keyId)
      if (!key) return reject('resource_not_found')
      return [{ type: 'ApiKeyRevoked', at, data: { keyId: command.keyId, digest: key.digest } }]
    }
    case 'AcceptRisk': {
      const { track, termsVersion } = command
      return tenant.risks.includes(riskName(track, termsVersion))
        ? []
        : [{ type: 'RiskAccepted', at, data: { track, termsVersion } }]
    }
    default:
      return decideDestinations(tenant, command)
  }
}

type DestinationCommand = Extract<
  TenantCommand,
  { type: 'RegisterDestination' | 'ReaddressDestination' | 'DeregisterDestination' }
>

function decideDestinations(tenant: Tenant, command: DestinationCommand): readonly TenantEvent[] | Rejection {
  const { at, destinationId } = command
  const current = held(tenant.destinations, destinationId)
  if (command.type === 'DeregisterDestination')
    return current === undefined ? [] : [{ type: 'DestinationDeregistered', at, data: { destinationId } }]
  const { url } = command
  const taken = Object.entries(tenant.destinations).some(([id, used]) => used === url && id !== destinationId)
  if (command.type === 'RegisterDestination') {
    if (current !== undefined) return []
    if (taken) return reject('webhook_endpoint_url_taken')
    if (Object.keys(tenant.destinations).length >= DESTINATIONS_MAX) return reject('webhook_endpoint_limit')
    return [{ type: 'DestinationRegistered', at, data: { destinationId, url }, ...sealedBy('tenant', command.secrets) }]
  }
  if (current === undefined) return reject('resource_not_found')
  if (taken) return reject('webhook_endpoint_url_taken')
  return current === url ? [] : [{ type: 'DestinationReaddressed', at, data: { destinationId, url } }]
}

function evolve(tenant: Tenant, event: TenantEvent): Tenant {
  switch (event.type) {
    case 'TenantCreated':
      return { ...tenant, exists: true, id: event.data.tenantId, name: event.data.name }
    case 'ApiKeyCreated': {
      const { keyId, digest, permissions } = event.data
      return { ...tenant, keys: { ...tenant.keys, [keyId]: { digest, permissions } } }
    }
    case 'ApiKeyRevoked':
      return { ...tenant, keys: without(tenant.keys, event.data.keyId) }
    case 'RiskAccepted':
      return { ...tenant, risks: [...tenant.risks, riskName(event.data.track, event.data.termsVersion)] }
    case 'DestinationRegistered':
    case 'DestinationReaddressed':
      return { ...tenant, destinations: { ...tenant.destinations, [event.data.destinationId]: event.data.url } }
    case 'DestinationDeregistered':
      return { ...tenant, destinations: without(tenant.destinations, event.data.destinationId) }
  }
}

/** Ids come from clients: `constructor` is nobody's. */
const held = <T>(entries: Readonly<Record<string, T>>, id: string): T | undefined =>
  Object.hasOwn(entries, id) ? entries[id] : undefined

function without<T>(entries: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(entries).filter(([name]) => name !== key))
}

export const tenant: Decider<Tenant, TenantCommand, TenantEvent> = { initial, decide, evolve }
