/** Webhook destinations: at most five a tenant, each url once, the clear secret shown once (channel-service, Authentication 7). */
import { randomBytes } from 'node:crypto'
import type { Guard } from '../connectors/webhook/guard.ts'
import type { DestinationSecrets, TenantEvent } from '../domain/tenant.ts'
import type { DeliveryRow, DestinationRow, ListPage } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import {
  type Asker,
  askedBy,
  type Core,
  findEvent,
  newId,
  now,
  ok,
  ownCommand,
  type Result,
  refuse,
  seenEverything,
  unseal
} from './core.ts'

export type Destinations = {
  createDestination(asker: Asker, input: { url: string }): Promise<Result<DestinationRow & { secret: string }>>
  destinations(asker: Asker): Promise<readonly DestinationRow[]>
  destination(asker: Asker, destinationId: string): Promise<Result<DestinationRow>>
  removeDestination(asker: Asker, destinationId: string): Promise<Result<null>>
  deliveries(
    asker: Asker,
    filter: { state?: string; destinationId?: string; eventType?: string },
    page: { limit: number; cursor: string | null }
  ): Promise<ListPage<DeliveryRow>>
  /** Completes a registration whose destination a crash left out. */
  finish(tenantStream: string, destinationId: string): Promise<void>
}

const SECRET_BYTES = 32

export function createDestinations(core: Core, guard: Guard): Destinations {
  const { views, aggregates } = core

  async function rowOf(tenantId: string, destinationId: string): Promise<DestinationRow | null> {
    await core.own.settled(tenantId)
    const row = views.destination(tenantId, destinationId)
    if (row) return row
    await seenEverything(core)
    return views.destination(tenantId, destinationId)
  }

  async function make(
    tenantId: string,
    destinationId: string,
    url: string,
    secrets: DestinationSecrets,
    at = now(core)
  ): Promise<boolean> {
    const outcome = await aggregates.destinations.ask(
      streamOf.destination(destinationId),
      { type: 'Create', at, destinationId, tenantId, url, secrets },
      ownCommand(core, tenantId, 'api'),
      { fresh: true }
    )
    if (outcome.ok && outcome.position !== null) core.own.configured(tenantId, outcome.position)
    return outcome.ok
  }

  return {
    async createDestination(asker, { url }) {
      const checked = await guard.resolve(url)
      if (!checked.ok) return refuse('outbound_address_blocked')
      const destinationId = newId('whd', core)
      const secrets = { secret: `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}` }
      const registered = await aggregates.tenants.ask(
        streamOf.tenant(asker.tenantId),
        { type: 'RegisterDestination', at: now(core), destinationId, url, secrets },
        askedBy(asker)
      )
      if (!registered.ok) return refuse(registered.code)
      const createdAt = now(core)
      if (!(await make(asker.tenantId, destinationId, url, secrets, createdAt))) return refuse('overloaded')
      await core.own.settled(asker.tenantId)
      const { tenantId } = asker
      const { secret } = secrets
      // Nobody can ask for the secret again: it is told whether or not the views are that far.
      const made = { id: destinationId, tenantId, url, secretLast4: secret.slice(-4), enabled: true, createdAt }
      return ok({ ...(views.destination(tenantId, destinationId) ?? made), secret })
    },
    async destinations(asker) {
      await core.own.settled(asker.tenantId)
      return views.destinations(asker.tenantId)
    },
    async destination(asker, destinationId) {
      const row = await rowOf(asker.tenantId, destinationId)
      return row ? ok(row) : refuse('resource_not_found')
    },
    async removeDestination(asker, destinationId) {
      if (!(await rowOf(asker.tenantId, destinationId))) return refuse('resource_not_found')
      const stream = streamOf.destination(destinationId)
      const removed = await aggregates.destinations.ask(stream, { type: 'Remove', at: now(core) }, askedBy(asker))
      if (!removed.ok) return refuse(removed.code)
      const outcome = await aggregates.tenants.ask(
        streamOf.tenant(asker.tenantId),
        { type: 'DeregisterDestination', at: now(core), destinationId },
        askedBy(asker)
      )
      if (outcome.ok && outcome.position !== null) core.own.configured(asker.tenantId, outcome.position)
      return ok(null)
    },
    async deliveries(asker, filter, { limit, cursor }) {
      await core.own.settled(asker.tenantId)
      return views.deliveries(asker.tenantId, filter, limit, cursor)
    },
    async finish(tenantStream, destinationId) {
      type Registered = Extract<TenantEvent, { type: 'DestinationRegistered' }>
      const registered = await findEvent<Registered>(
        core,
        tenantStream,
        event => event.type === 'DestinationRegistered' && event.data.destinationId === destinationId
      )
      const secrets = registered && (await unseal<DestinationSecrets>(core, registered))
      const tenantId = registered?.meta.tenant
      if (registered && secrets && tenantId) await make(tenantId, destinationId, registered.data.url, secrets)
    }
  }
}
