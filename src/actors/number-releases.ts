/** What lets a stopped queue go on: better credentials, or its owner's word (decisions §4). */
import type { OfficialConnector, OfficialLine } from '../connectors/port.ts'
import type { ChannelCommand } from '../domain/channel.ts'
import type { ChannelRow } from '../projections/port.ts'
import type { ChannelView } from './channel-view.ts'
import { type Asker, type Core, now, type Result, refuse } from './core.ts'
import { refusedByPlatform } from './platform-refusal.ts'

export const LIMIT_RELEASE_TERMS = 'limited-release-v1'

export type NewCredentials = {
  readonly accessToken: string
  readonly platformAppId?: string
  readonly platformAppSecret?: string
}

export type NumberReleases = {
  /** `risk_acceptance_required` unless the current terms are named; a channel that is not limited stays as it is. */
  releaseLimit(asker: Asker, channelId: string, terms: string | null): Promise<Result<ChannelView>>
  releaseQuarantine(asker: Asker, channelId: string, reason: string | null): Promise<Result<ChannelView>>
  /** Verified with the platform before they are kept; phone number and account of a number never change. */
  rotateCredentials(asker: Asker, channelId: string, credentials: NewCredentials): Promise<Result<ChannelView>>
}

export type NumberReleasesOptions = {
  readonly core: Core
  readonly official: OfficialConnector
  /** The live channel of the tenant; null when there is none. */
  readonly rowOf: (tenantId: string, channelId: string) => Promise<ChannelRow | null>
  readonly change: (asker: Asker, channelId: string, command: ChannelCommand) => Promise<Result<ChannelView>>
}

export function createNumberReleases({ core, official, rowOf, change }: NumberReleasesOptions): NumberReleases {
  return {
    async releaseLimit(asker, channelId, terms) {
      if (!(await rowOf(asker.tenantId, channelId))) return refuse('channel_not_found')
      if (terms !== LIMIT_RELEASE_TERMS) return refuse('risk_acceptance_required')
      return change(asker, channelId, { type: 'ReleaseLimit', at: now(core), termsVersion: terms })
    },
    releaseQuarantine: (asker, channelId, reason) =>
      change(asker, channelId, { type: 'ReleaseQuarantine', at: now(core), reason }),
    async rotateCredentials(asker, channelId, { accessToken, platformAppId, platformAppSecret }) {
      const row = await rowOf(asker.tenantId, channelId)
      if (!row) return refuse('channel_not_found')
      if (row.phoneNumberId === null || row.wabaId === null) return refuse('unsupported_capability')
      const line: OfficialLine = {
        kind: 'official',
        phoneNumberId: row.phoneNumberId,
        wabaId: row.wabaId,
        accessToken
      }
      const verified = await official.verify(line)
      if (verified.kind !== 'ok') return refusedByPlatform(verified)
      const subscribed = await official.subscribe(line)
      if (subscribed.kind !== 'ok') return refusedByPlatform(subscribed)
      const secrets = { accessToken, ...(platformAppSecret === undefined ? {} : { platformAppSecret }) }
      return change(asker, channelId, {
        type: 'RotateCredentials',
        at: now(core),
        platformAppId: platformAppId ?? null,
        secrets
      })
    }
  }
}
