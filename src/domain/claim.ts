/**
 * Uniqueness: whoever appends first to `claim-…` holds the thing, until it is released.
 * The claim of a number carries the whole creation, so that a crash between claim and channel is completed later.
 */
import type { ChannelCreation, ChannelSecrets } from './channel.ts'
import { type Decider, type Event, type Rejection, reject, sealedBy } from './event.ts'

export type ClaimEvent =
  | Event<'NumberClaimed', { readonly creation: ChannelCreation }, ChannelSecrets>
  | Event<'NumberReleased', { readonly channelId: string }>
  | Event<'TenantNamed', { readonly tenantId: string; readonly name: string }>

export type Claim = { readonly holder: string | null; readonly tenantId: string | null }

export type ClaimCommand =
  | {
      readonly type: 'ClaimNumber'
      readonly at: string
      readonly creation: ChannelCreation
      readonly secrets: ChannelSecrets
    }
  | { readonly type: 'ReleaseNumber'; readonly at: string; readonly channelId: string }
  | { readonly type: 'NameTenant'; readonly at: string; readonly tenantId: string; readonly name: string }

const initial: Claim = { holder: null, tenantId: null }

function decide(claim: Claim, command: ClaimCommand): readonly ClaimEvent[] | Rejection {
  const { at } = command
  switch (command.type) {
    case 'ClaimNumber':
      if (claim.holder === command.creation.channelId) return []
      if (claim.holder !== null) return reject('number_in_use')
      return [
        { type: 'NumberClaimed', at, data: { creation: command.creation }, ...sealedBy('tenant', command.secrets) }
      ]
    case 'ReleaseNumber':
      if (claim.holder !== command.channelId) return []
      return [{ type: 'NumberReleased', at, data: { channelId: command.channelId } }]
    case 'NameTenant':
      if (claim.holder !== null) return []
      return [{ type: 'TenantNamed', at, data: { tenantId: command.tenantId, name: command.name } }]
  }
}

function evolve(_claim: Claim, event: ClaimEvent): Claim {
  switch (event.type) {
    case 'NumberClaimed':
      return { holder: event.data.creation.channelId, tenantId: event.data.creation.tenantId }
    case 'NumberReleased':
      return initial
    case 'TenantNamed':
      return { holder: event.data.tenantId, tenantId: event.data.tenantId }
  }
}

export const claim: Decider<Claim, ClaimCommand, ClaimEvent> = { initial, decide, evolve }
