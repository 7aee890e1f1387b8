/**
 * A number (channel): its life, its flags and what its owner may change. Stream: `channel-ch_…`.
 * `restricted` and `quarantine` end by themselves: whether they hold is computed when read, never written.
 */
import type { ChannelCommand } from './channel-commands.ts'
import { type Decider, type Event, type Rejection, reject, sealedBy } from './event.ts'

export type { ChannelCommand } from './channel-commands.ts'

export type ChannelState = 'none' | 'connecting' | 'connected' | 'down' | 'disconnected' | 'deleted'
export type ChannelKind = 'official' | 'unofficial'
export type ChannelSource =
  | 'connect'
  | 'reconnect'
  | 'disconnect'
  | 'supervisor'
  | 'webhook'
  | 'register'
  | 'admin'
  | 'system'

/** Under the tenant's key. */
export type ChannelSecrets = {
  readonly accessToken?: string
  readonly platformAppSecret?: string
  /** Key of a tenant's own instance; pool instances take theirs from the settings. */
  readonly instanceApiKey?: string
}
export type Session = {
  readonly name: string
  readonly baseUrl: string
  readonly engine: string
  readonly own: boolean
}
export type ChannelCreation = {
  readonly channelId: string
  readonly tenantId: string
  readonly kind: ChannelKind
  readonly label: string | null
  readonly number: string | null
  readonly phoneNumberId?: string
  readonly wabaId?: string
  readonly platformAppId?: string
  readonly session?: Session
  readonly attemptId?: string
  readonly source: ChannelSource
}

export type ChannelEvent =
  | Event<'ChannelConnected', ChannelCreation & { readonly quarantineUntil?: string }, ChannelSecrets>
  | Event<'ChannelReconnecting', { readonly source: ChannelSource; readonly session?: Session }>
  | Event<'ChannelReconnected', { readonly source: ChannelSource; readonly number?: string }>
  | Event<'ChannelWentDown', { readonly source: ChannelSource; readonly reason: string }>
  | Event<'ChannelDisconnected', { readonly source: ChannelSource }>
  | Event<'ChannelDeleted', { readonly source: ChannelSource }>
  | Event<'ChannelRenamed', { readonly label: string }>
  | Event<'ChannelCredentialsRotated', { readonly platformAppId?: string }, ChannelSecrets>
  | Event<'ChannelTroubleRecorded', { readonly code: string }>
  | Event<'ChannelTroubleCleared', Record<never, never>>
  | Event<'ChannelLimited', { readonly failures: number; readonly windowSeconds: number }>
  | Event<'ChannelLimitReleased', { readonly termsVersion: string }>
  | Event<'ChannelRestricted', { readonly code: string; readonly until?: string }>
  | Event<'ChannelRestrictionLifted', Record<never, never>>
  | Event<'ChannelQuarantineReleased', { readonly reason?: string }>

export type Channel = {
  readonly state: ChannelState
  readonly id: string
  readonly tenantId: string
  readonly kind: ChannelKind
  readonly label: string | null
  readonly number: string | null
  readonly phoneNumberId: string | null
  readonly wabaId: string | null
  readonly platformAppId: string | null
  readonly session: Session | null
  /** Why dispatch waits although the number is connected: credentials refused, instance refused. */
  readonly lastError: string | null
  readonly stateChangedAt: string | null
  /** When it was first connected. */
  readonly connectedAt: string | null
  readonly limitedSince: string | null
  readonly restricted: { readonly until: string | null } | null
  readonly quarantineUntil: string | null
  /** Grows with each rotation: whoever keeps opened secrets sees by it that there are newer ones. */
  readonly secretsGeneration: number
}

export const isRestricted = (channel: Pick<Channel, 'restricted'>, at: string): boolean =>
  channel.restricted !== null && (channel.restricted.until === null || at < channel.restricted.until)

export const isQuarantined = (channel: Pick<Channel, 'quarantineUntil'>, at: string): boolean =>
  channel.quarantineUntil !== null && at < channel.quarantineUntil

/** From when on messages may leave its queue: `at` itself when now, null when only an event can tell. */
export function opensAt(channel: Channel, at: string): string | null {
  if (channel.state !== 'connected' || channel.limitedSince !== null || channel.lastError !== null) return null
  return channel.quarantineUntil !== null && at < channel.quarantineUntil ? channel.quarantineUntil : at
}

/** The code of the synchronous refusal of a send (channel-service, rule 5), or null. New contacts are judged apart. */
export function admissionRefusal(
  channel: Pick<Channel, 'limitedSince' | 'quarantineUntil'> & { readonly state: string },
  at: string
): string | null {
  if (channel.state === 'disconnected') return 'channel_disconnected'
  if (channel.limitedSince !== null) return 'channel_limited'
  if (isQuarantined(channel, at)) return 'channel_quarantined'
  return null
}

const initial: Channel = {
  state: 'none',
  id: '',
  tenantId: '',
  kind: 'official',
  label: null,
  number: null,
  phoneNumberId: null,
  wabaId: null,
  platformAppId: null,
  session: null,
  lastError: null,
  stateChangedAt: null,
  connectedAt: null,
  limitedSince: null,
  restricted: null,
  quarantineUntil: null,
  secretsGeneration: 0
}

function decide(channel: Channel, command: ChannelCommand): readonly ChannelEvent[] | Rejection {
  if (command.type === 'Connect') return connect(channel, command)
  if (channel.state === 'none' || channel.state === 'deleted') return reject('channel_not_found')
  const { at } = command
  switch (command.type) {
    case 'BeginReconnect': {
      if (channel.state === 'connected' || channel.state === 'connecting') return []
      const session = command.session === null ? {} : { session: command.session }
      return [{ type: 'ChannelReconnecting', at, data: { source: command.source, ...session } }]
    }
    case 'MarkConnected': {
      // A disconnected number stays so until its owner connects it again, whatever its session reports.
      if (channel.state === 'connected' || channel.state === 'disconnected') return []
      const number = command.number === null ? {} : { number: command.number }
      return [{ type: 'ChannelReconnected', at, data: { source: command.source, ...number } }]
    }
    case 'MarkDown':
      if (channel.state !== 'connected' && channel.state !== 'connecting') return []
      return [{ type: 'ChannelWentDown', at, data: { source: command.source, reason: command.reason } }]
    case 'Disconnect':
      if (channel.state === 'disconnected') return []
      return [{ type: 'ChannelDisconnected', at, data: { source: command.source } }]
    case 'Delete':
      return [{ type: 'ChannelDeleted', at, data: { source: command.source } }]
    case 'Rename':
      if (channel.label === command.label) return []
      return [{ type: 'ChannelRenamed', at, data: { label: command.label } }]
    default:
      return decideFlags(channel, command)
  }
}

type FlagCommand = Exclude<
  ChannelCommand,
  { type: 'Connect' | 'BeginReconnect' | 'MarkConnected' | 'MarkDown' | 'Disconnect' | 'Delete' | 'Rename' }
>

function decideFlags(channel: Channel, command: FlagCommand): readonly ChannelEvent[] | Rejection {
  const { at } = command
  switch (command.type) {
    case 'RotateCredentials': {
      if (channel.kind !== 'official') return reject('unsupported_capability')
      const data = command.platformAppId === null ? {} : { platformAppId: command.platformAppId }
      return [{ type: 'ChannelCredentialsRotated', at, data, ...sealedBy('tenant', command.secrets) }]
    }
    case 'RecordTrouble':
      // What old credentials met says nothing about those that came after.
      return channel.lastError === command.code || command.secretsGeneration < channel.secretsGeneration
        ? []
        : [{ type: 'ChannelTroubleRecorded', at, data: { code: command.code } }]
    case 'ClearTrouble':
      return channel.lastError === null ? [] : [{ type: 'ChannelTroubleCleared', at, data: {} }]
    case 'Limit': {
      const { failures, windowSeconds } = command
      return channel.limitedSince === null ? [{ type: 'ChannelLimited', at, data: { failures, windowSeconds } }] : []
    }
    case 'ReleaseLimit':
      return channel.limitedSince === null
        ? []
        : [{ type: 'ChannelLimitReleased', at, data: { termsVersion: command.termsVersion } }]
    case 'Restrict': {
      // News of a restriction that is over by now changes nothing.
      if (command.until !== null && command.until <= at) return []
      if (isRestricted(channel, at) && channel.restricted?.until === command.until) return []
      const until = command.until === null ? {} : { until: command.until }
      return [{ type: 'ChannelRestricted', at, data: { code: command.code, ...until } }]
    }
    case 'LiftRestriction':
      return isRestricted(channel, at) ? [{ type: 'ChannelRestrictionLifted', at, data: {} }] : []
    case 'ReleaseQuarantine': {
      const reason = command.reason === null ? {} : { reason: command.reason }
      return isQuarantined(channel, at) ? [{ type: 'ChannelQuarantineReleased', at, data: reason }] : []
    }
  }
}

function connect(channel: Channel, command: Extract<ChannelCommand, { type: 'Connect' }>): readonly ChannelEvent[] {
  if (channel.state !== 'none') return []
  const { at, creation, secrets, quarantineMs } = command
  const quarantine = quarantineMs > 0 ? { quarantineUntil: new Date(Date.parse(at) + quarantineMs).toISOString() } : {}
  return [{ type: 'ChannelConnected', at, data: { ...creation, ...quarantine }, ...sealedBy('tenant', secrets) }]
}

function evolve(channel: Channel, event: ChannelEvent): Channel {
  switch (event.type) {
    case 'ChannelConnected': {
      const {
        channelId,
        tenantId,
        kind,
        label,
        number,
        phoneNumberId,
        wabaId,
        platformAppId,
        session,
        quarantineUntil
      } = event.data
      return {
        ...initial,
        state: 'connected',
        id: channelId,
        tenantId,
        kind,
        label,
        number,
        phoneNumberId: phoneNumberId ?? null,
        wabaId: wabaId ?? null,
        platformAppId: platformAppId ?? null,
        session: session ?? null,
        stateChangedAt: event.at,
        connectedAt: event.at,
        quarantineUntil: quarantineUntil ?? null
      }
    }
    case 'ChannelReconnecting':
      return moved({ ...channel, session: event.data.session ?? channel.session }, 'connecting', event.at)
    case 'ChannelReconnected':
      return moved({ ...channel, number: event.data.number ?? channel.number, lastError: null }, 'connected', event.at)
    case 'ChannelWentDown':
      return moved({ ...channel, lastError: event.data.reason }, 'down', event.at)
    case 'ChannelDisconnected':
      return moved({ ...channel, lastError: null }, 'disconnected', event.at)
    case 'ChannelDeleted':
      return moved(channel, 'deleted', event.at)
    case 'ChannelRenamed':
      return { ...channel, label: event.data.label }
    case 'ChannelCredentialsRotated': {
      const platformAppId = event.data.platformAppId ?? channel.platformAppId
      return { ...channel, platformAppId, lastError: null, secretsGeneration: channel.secretsGeneration + 1 }
    }
    case 'ChannelTroubleRecorded':
      return { ...channel, lastError: event.data.code }
    case 'ChannelTroubleCleared':
      return { ...channel, lastError: null }
    case 'ChannelLimited':
      return { ...channel, limitedSince: event.at }
    case 'ChannelLimitReleased':
      return { ...channel, limitedSince: null }
    case 'ChannelRestricted':
      return { ...channel, restricted: { until: event.data.until ?? null } }
    case 'ChannelRestrictionLifted':
      return { ...channel, restricted: { until: event.at } }
    case 'ChannelQuarantineReleased':
      return { ...channel, quarantineUntil: event.at }
  }
}

const moved = (channel: Channel, state: ChannelState, at: string): Channel => ({
  ...channel,
  state,
  stateChangedAt: at
})

export const channel: Decider<Channel, ChannelCommand, ChannelEvent> = { initial, decide, evolve }
