/** The five kinds of actors and the claims, with the names of their streams. */
import { type Attempt, type AttemptCommand, type AttemptEvent, attempt } from '../domain/attempt.ts'
import { type Channel, type ChannelCommand, type ChannelEvent, channel } from '../domain/channel.ts'
import { type Claim, type ClaimCommand, type ClaimEvent, claim } from '../domain/claim.ts'
import { type Destination, type DestinationCommand, type DestinationEvent, destination } from '../domain/destination.ts'
import { type Message, type MessageCommand, message } from '../domain/message.ts'
import type { MessageEvent } from '../domain/message-events.ts'
import { type Tenant, type TenantCommand, type TenantEvent, tenant } from '../domain/tenant.ts'
import { createEntities, type Entities, type EntityOptions } from './entity.ts'

export const streamOf = {
  message: (id: string): string => `message-${id}`,
  channel: (id: string): string => `channel-${id}`,
  attempt: (id: string): string => `attempt-${id}`,
  tenant: (id: string): string => `tenant-${id}`,
  destination: (id: string): string => `destination-${id}`,
  inbox: (channelId: string): string => `inbox-${channelId}`,
  number: (digits: string): string => `claim-number-${digits}`,
  tenantName: (nameDigest: string): string => `claim-tenant-${nameDigest}`
}

/** What stands behind the first dash of a stream's name. */
export const idOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1)

export type Aggregates = {
  readonly messages: Entities<Message, MessageCommand, MessageEvent>
  readonly channels: Entities<Channel, ChannelCommand, ChannelEvent>
  readonly attempts: Entities<Attempt, AttemptCommand, AttemptEvent>
  readonly tenants: Entities<Tenant, TenantCommand, TenantEvent>
  readonly destinations: Entities<Destination, DestinationCommand, DestinationEvent>
  readonly claims: Entities<Claim, ClaimCommand, ClaimEvent>
  stop(): Promise<void>
}

export function createAggregates(options: EntityOptions): Aggregates {
  // Channels are read before every dispatch: the views tell when another node has changed one.
  const asked = { ...options, readsFresh: options.shared }
  const aggregates = {
    // The thread of the batches begins their streams, too.
    messages: createEntities(message, { ...options, shared: true }),
    channels: createEntities(channel, options),
    attempts: createEntities(attempt, asked),
    tenants: createEntities(tenant, asked),
    destinations: createEntities(destination, asked),
    claims: createEntities(claim, asked)
  }
  return {
    ...aggregates,
    async stop() {
      await Promise.all(Object.values(aggregates).map(entities => entities.stop()))
    }
  }
}
