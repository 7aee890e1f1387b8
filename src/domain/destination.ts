/** A webhook destination: where a tenant's events go, and the secret that signs them. Stream: `destination-whd_…`. */
import { type Decider, type Event, type Rejection, reject, sealedBy } from './event.ts'
import type { DestinationSecrets } from './tenant.ts'

export type DestinationEvent =
  | Event<
      'DestinationCreated',
      { readonly destinationId: string; readonly tenantId: string; readonly url: string; readonly secretLast4: string },
      DestinationSecrets
    >
  | Event<'DestinationChanged', { readonly url?: string; readonly enabled?: boolean }>
  | Event<'DestinationSecretRotated', { readonly secretLast4: string }, DestinationSecrets>
  /** The receiver said 410, or failed for 72 h. */
  | Event<'DestinationDisabled', { readonly reason: 'gone' | 'failing' }>
  | Event<'DestinationRemoved', Record<never, never>>

export type Destination = {
  readonly state: 'none' | 'live' | 'removed'
  readonly tenantId: string
  readonly url: string
  readonly enabled: boolean
}

export type DestinationCommand =
  | {
      readonly type: 'Create'
      readonly at: string
      readonly destinationId: string
      readonly tenantId: string
      readonly url: string
      readonly secrets: DestinationSecrets
    }
  | { readonly type: 'Change'; readonly at: string; readonly url: string | null; readonly enabled: boolean | null }
  | { readonly type: 'RotateSecret'; readonly at: string; readonly secrets: DestinationSecrets }
  | { readonly type: 'Disable'; readonly at: string; readonly reason: 'gone' | 'failing' }
  | { readonly type: 'Remove'; readonly at: string }

const initial: Destination = { state: 'none', tenantId: '', url: '', enabled: false }

function decide(destination: Destination, command: DestinationCommand): readonly DestinationEvent[] | Rejection {
  const { at } = command
  if (command.type === 'Create') {
    if (destination.state !== 'none') return []
    const { destinationId, tenantId, url, secrets } = command
    const data = { destinationId, tenantId, url, secretLast4: secrets.secret.slice(-4) }
    return [{ type: 'DestinationCreated', at, data, ...sealedBy('tenant', secrets) }]
  }
  if (destination.state !== 'live') return reject('resource_not_found')
  switch (command.type) {
    case 'Change': {
      const url = command.url === null || command.url === destination.url ? {} : { url: command.url }
      const enabled =
        command.enabled === null || command.enabled === destination.enabled ? {} : { enabled: command.enabled }
      const data = { ...url, ...enabled }
      return Object.keys(data).length === 0 ? [] : [{ type: 'DestinationChanged', at, data }]
    }
    case 'RotateSecret': {
      const data = { secretLast4: command.secrets.secret.slice(-4) }
      return [{ type: 'DestinationSecretRotated', at, data, ...sealedBy('tenant', command.secrets) }]
    }
    case 'Disable':
      return destination.enabled ? [{ type: 'DestinationDisabled', at, data: { reason: command.reason } }] : []
    case 'Remove':
      return [{ type: 'DestinationRemoved', at, data: {} }]
  }
}

function evolve(destination: Destination, event: DestinationEvent): Destination {
  switch (event.type) {
    case 'DestinationCreated':
      return { state: 'live', tenantId: event.data.tenantId, url: event.data.url, enabled: true }
    case 'DestinationChanged':
      return {
        ...destination,
        url: event.data.url ?? destination.url,
        enabled: event.data.enabled ?? destination.enabled
      }
    case 'DestinationSecretRotated':
      return destination
    case 'DestinationDisabled':
      return { ...destination, enabled: false }
    case 'DestinationRemoved':
      return { ...destination, state: 'removed', enabled: false }
  }
}

export const destination: Decider<Destination, DestinationCommand, DestinationEvent> = { initial, decide, evolve }
