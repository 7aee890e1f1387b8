/** A number as the API shows it (channel-service, Channel). What ends by itself is computed here, when it is read. */
import { type Channel, isQuarantined, isRestricted } from '../domain/channel.ts'
import type { ChannelRow } from '../projections/port.ts'
import { providerName } from './envelope.ts'

export type ChannelView = {
  readonly id: string
  readonly kind: 'official' | 'unofficial'
  readonly provider: 'official_platform' | 'unofficial_platform'
  readonly state: string
  readonly label: string | null
  readonly number: string | null
  readonly engine: string | null
  readonly lastError: string | null
  readonly stateChangedAt: string | null
  readonly limited: { readonly active: boolean; readonly since: string | null }
  readonly restricted: { readonly active: boolean; readonly until: string | null }
  readonly quarantine?: { readonly active: boolean; readonly until: string | null }
}
export type ListedChannel = ChannelView & {
  readonly tags: readonly { readonly id: string; readonly name: string; readonly color: string | null }[]
  readonly phoneNumberId: string | null
  readonly rateLimitPerMinute: number
  readonly health: null | Readonly<Record<string, unknown>>
}

export type ViewOptions = { readonly quarantineOn: boolean; readonly rateLimitPerMinute: number }

export type ShownChannel = Omit<ChannelRow, 'sessionName' | 'createdPosition'>

/** The same from the number's own state, for one that the views do not show yet. */
export const shownOf = ({ session, restricted, ...same }: Channel): ShownChannel => ({
  ...same,
  engine: session?.engine ?? null,
  isRestricted: restricted !== null,
  restrictedUntil: restricted?.until ?? null
})

export function toView(row: ShownChannel, at: string, options: ViewOptions): ChannelView {
  const restricted = row.isRestricted ? { until: row.restrictedUntil } : null
  const quarantine = { active: isQuarantined(row, at), until: row.quarantineUntil }
  return {
    id: row.id,
    kind: row.kind,
    provider: providerName(row.kind),
    state: row.state,
    label: row.label,
    number: row.number,
    engine: row.engine,
    lastError: row.lastError,
    stateChangedAt: row.stateChangedAt,
    limited: { active: row.limitedSince !== null, since: row.limitedSince },
    restricted: { active: isRestricted({ restricted }, at), until: row.restrictedUntil },
    ...(options.quarantineOn ? { quarantine } : {})
  }
}

export const toListed = (row: ChannelRow, at: string, options: ViewOptions): ListedChannel => ({
  ...toView(row, at, options),
  tags: [],
  phoneNumberId: row.phoneNumberId,
  rateLimitPerMinute: options.rateLimitPerMinute,
  health: null
})
