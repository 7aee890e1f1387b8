/** What a channel is told: by its owner, its session, the platform and the breaker. */
import type { ChannelCreation, ChannelSecrets, ChannelSource, Session } from './channel.ts'

export type ChannelCommand =
  | {
      readonly type: 'Connect'
      readonly at: string
      readonly creation: ChannelCreation
      readonly secrets: ChannelSecrets
      /** Length of the onboarding quarantine; 0 is off. */
      readonly quarantineMs: number
    }
  | {
      readonly type: 'BeginReconnect'
      readonly at: string
      readonly source: ChannelSource
      readonly session: Session | null
    }
  | {
      readonly type: 'MarkConnected'
      readonly at: string
      readonly source: ChannelSource
      readonly number: string | null
    }
  | { readonly type: 'MarkDown'; readonly at: string; readonly source: ChannelSource; readonly reason: string }
  | { readonly type: 'Disconnect'; readonly at: string; readonly source: ChannelSource }
  | { readonly type: 'Delete'; readonly at: string; readonly source: ChannelSource }
  | { readonly type: 'Rename'; readonly at: string; readonly label: string }
  | {
      readonly type: 'RotateCredentials'
      readonly at: string
      readonly platformAppId: string | null
      readonly secrets: ChannelSecrets
    }
  | {
      readonly type: 'RecordTrouble'
      readonly at: string
      readonly code: string
      /** Of the credentials that met it: says nothing about newer ones. */
      readonly secretsGeneration: number
    }
  | { readonly type: 'ClearTrouble'; readonly at: string }
  | { readonly type: 'Limit'; readonly at: string; readonly failures: number; readonly windowSeconds: number }
  | { readonly type: 'ReleaseLimit'; readonly at: string; readonly termsVersion: string }
  | { readonly type: 'Restrict'; readonly at: string; readonly code: string; readonly until: string | null }
  | { readonly type: 'LiftRestriction'; readonly at: string }
  | { readonly type: 'ReleaseQuarantine'; readonly at: string; readonly reason: string | null }
