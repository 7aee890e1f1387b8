/** The audit timeline of a number: every move of its state, and every change of its label, credentials and flags. */
import type { ChannelEvent, ChannelSource } from '../../domain/channel.ts'
import type { AuditRow, Projection, RecordedOf, Table } from '../port.ts'
import { channelIdOf } from './stream-ids.ts'

export const audit: Table = {
  name: 'audit',
  columns: {
    position: 'INTEGER',
    channelId: 'TEXT',
    id: 'TEXT',
    kind: 'TEXT',
    fromState: 'TEXT',
    toState: 'TEXT',
    reason: 'TEXT',
    source: 'TEXT',
    activeNumber: 'TEXT',
    createdAt: 'TEXT',
    traceId: 'TEXT'
  },
  keyLength: 1,
  indexes: ['(channelId, position)']
}

/** What the next entry of a number needs to know of the ones before. */
export const auditHeads: Table = {
  name: 'audit_heads',
  columns: { channelId: 'TEXT', state: 'TEXT', number: 'TEXT', trouble: 'TEXT' },
  keyLength: 1,
  indexes: [],
  withoutRowid: true
}

type Head = { channelId: string; state: string; number: string | null; trouble: string | null }
type Entry = Pick<AuditRow, 'kind' | 'toState' | 'reason'> & { readonly source?: ChannelSource }

export const auditProjection: Projection = {
  name: 'audit',
  version: 1,
  tables: [audit, auditHeads],
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
  apply(recorded, rows) {
    const event = recorded as RecordedOf<ChannelEvent>
    const channelId = channelIdOf(event.stream)
    const before = rows.get<Head>(auditHeads, [channelId]) ?? initialHead(channelId)
    const entry = entryOf(event, before)
    const after = advance(before, event, entry)
    rows.put(auditHeads, after)
    rows.put(audit, {
      position: event.position,
      channelId,
      id: event.id,
      kind: entry.kind,
      fromState: entry.toState === null ? null : before.state,
      toState: entry.toState,
      reason: entry.reason,
      source: entry.source ?? sourceOf(event.meta.source),
      activeNumber: after.number,
      createdAt: event.at,
      traceId: event.meta.trace
    })
  }
}

/** A new number comes out of its connecting (channel-service, States). */
const initialHead = (channelId: string): Head => ({ channelId, state: 'connecting', number: null, trouble: null })

function advance(head: Head, event: RecordedOf<ChannelEvent>, entry: Entry): Head {
  const number = 'number' in event.data && event.data.number !== undefined ? event.data.number : head.number
  const trouble = event.type === 'ChannelTroubleRecorded' ? event.data.code : head.trouble
  return { ...head, state: entry.toState ?? head.state, number, trouble }
}

function entryOf(event: RecordedOf<ChannelEvent>, before: Head): Entry {
  switch (event.type) {
    case 'ChannelConnected':
      return moved('connected', event.data.source)
    case 'ChannelReconnecting':
      return moved('connecting', event.data.source)
    case 'ChannelReconnected':
      return moved('connected', event.data.source)
    case 'ChannelWentDown':
      return { ...moved('down', event.data.source), reason: event.data.reason }
    case 'ChannelDisconnected':
      return moved('disconnected', event.data.source)
    case 'ChannelDeleted':
      return moved('deleted', event.data.source)
    case 'ChannelRenamed':
      return { kind: 'label', toState: null, reason: null }
    case 'ChannelCredentialsRotated':
      return { kind: 'credentials', toState: null, reason: 'rotated' }
    case 'ChannelTroubleRecorded':
      return { kind: troubleKind(event.data.code), toState: null, reason: event.data.code }
    case 'ChannelTroubleCleared':
      return { kind: troubleKind(before.trouble ?? ''), toState: null, reason: 'trouble_cleared' }
    case 'ChannelLimited':
      return flag('limited')
    case 'ChannelLimitReleased':
      return flag('limit_released')
    case 'ChannelRestricted':
      return flag(event.data.code)
    case 'ChannelRestrictionLifted':
      return flag('restriction_lifted')
    case 'ChannelQuarantineReleased':
      return flag(event.data.reason ?? 'quarantine_released')
  }
}

const moved = (toState: string, source: ChannelSource): Entry => ({ kind: 'state', toState, reason: null, source })
const flag = (reason: string): Entry => ({ kind: 'flag', toState: null, reason })

const troubleKind = (code: string): string => (code.startsWith('credentials') ? 'credentials' : 'flag')

/** Who appended an event, in the words of the specification. */
function sourceOf(appender: string): ChannelSource {
  switch (appender) {
    case 'api':
    case 'cli':
      return 'admin'
    case 'callback':
      return 'webhook'
    case 'supervisor':
      return 'supervisor'
    default:
      return 'system'
  }
}
