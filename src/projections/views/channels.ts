/** Numbers as they are now, deleted ones too. The states are those of the domain: the row is folded by its own rules. */
import { type Channel, type ChannelEvent, channel } from '../../domain/channel.ts'
import type { Projection, RecordedOf, Table } from '../port.ts'
import { channelIdOf } from './stream-ids.ts'

export const channels: Table = {
  name: 'channels',
  columns: {
    id: 'TEXT',
    tenantId: 'TEXT',
    kind: 'TEXT',
    state: 'TEXT',
    label: 'TEXT',
    number: 'TEXT',
    phoneNumberId: 'TEXT',
    wabaId: 'TEXT',
    platformAppId: 'TEXT',
    sessionName: 'TEXT',
    sessionBaseUrl: 'TEXT',
    sessionOwn: 'INTEGER',
    engine: 'TEXT',
    lastError: 'TEXT',
    stateChangedAt: 'TEXT',
    connectedAt: 'TEXT',
    limitedSince: 'TEXT',
    isRestricted: 'INTEGER',
    restrictedUntil: 'TEXT',
    quarantineUntil: 'TEXT',
    secretsGeneration: 'INTEGER',
    createdPosition: 'INTEGER'
  },
  keyLength: 1,
  indexes: [
    `(tenantId, createdPosition) WHERE state <> 'deleted'`,
    `(tenantId, number, createdPosition) WHERE state <> 'deleted'`,
    '(phoneNumberId)',
    `(wabaId) WHERE state <> 'deleted'`
  ],
  withoutRowid: true
}

export type StoredChannel = {
  id: string
  tenantId: string
  kind: Channel['kind']
  state: Channel['state']
  label: string | null
  number: string | null
  phoneNumberId: string | null
  wabaId: string | null
  platformAppId: string | null
  sessionName: string | null
  sessionBaseUrl: string | null
  sessionOwn: number | null
  engine: string | null
  lastError: string | null
  stateChangedAt: string | null
  connectedAt: string | null
  limitedSince: string | null
  isRestricted: number
  restrictedUntil: string | null
  quarantineUntil: string | null
  secretsGeneration: number
  createdPosition: number
}

export const channelsProjection: Projection = {
  name: 'channels',
  version: 2,
  tables: [channels],
  handles: [
    'ChannelConnected',
    'ChannelReconnecting',
    'ChannelReconnected',
    'ChannelWentDown',
    'ChannelDisconnected',
    'ChannelDeleted',
    'ChannelRenamed',
    'ChannelCredentialsRotated',
    'ChannelTroubleRecorded',
    'ChannelTroubleCleared',
    'ChannelLimited',
    'ChannelLimitReleased',
    'ChannelRestricted',
    'ChannelRestrictionLifted',
    'ChannelQuarantineReleased'
  ],
  apply(recorded, rows, touch) {
    const event = recorded as RecordedOf<ChannelEvent>
    const id = channelIdOf(event.stream)
    const row = rows.get<StoredChannel>(channels, [id])
    if (!row && event.type !== 'ChannelConnected') return
    const next = channel.evolve(row ? fromRow(row) : channel.initial, event)
    rows.put(channels, toRow(next, row?.createdPosition ?? event.position))
    touch('channel', id)
  }
}

function fromRow(row: StoredChannel): Channel {
  const { sessionName, sessionBaseUrl, sessionOwn, engine, isRestricted, restrictedUntil, createdPosition, ...same } =
    row
  const session =
    sessionName === null
      ? null
      : { name: sessionName, baseUrl: sessionBaseUrl ?? '', engine: engine ?? '', own: sessionOwn === 1 }
  return { ...same, session, restricted: isRestricted === 1 ? { until: restrictedUntil } : null }
}

function toRow(state: Channel, createdPosition: number): StoredChannel {
  const { session, restricted, ...same } = state
  return {
    ...same,
    sessionName: session?.name ?? null,
    sessionBaseUrl: session?.baseUrl ?? null,
    sessionOwn: session === null ? null : Number(session.own),
    engine: session?.engine ?? null,
    isRestricted: Number(restricted !== null),
    restrictedUntil: restricted?.until ?? null,
    createdPosition
  }
}
