/** Questions about numbers and their audit timelines. */
import type { Database } from 'better-sqlite3'
import { LIMIT } from '../../log/sqlite/limit.ts'
import { decodeNumber, pageOf } from '../cursor.ts'
import type { AuditRow, ChannelRow, Views } from '../port.ts'
import type { Recall } from '../recall.ts'
import type { StoredChannel } from '../views/channels.ts'

const LIVE = "state <> 'deleted'"
/** Numbers of one WABA that are looked at; far above what the platform allows. */
const WABA_CHANNELS_MAX = 1_000
/** Lives of one number that are looked at, the newest ones. */
const LIVES_MAX = 100

type StoredAudit = AuditRow & { readonly position: number; readonly channelId: string }
type ChannelQueries = Pick<
  Views,
  | 'channel'
  | 'channelByRef'
  | 'channelsByPhoneNumberId'
  | 'channelById'
  | 'channelsOfWaba'
  | 'channels'
  | 'channelIds'
  | 'audit'
  | 'auditAt'
>

export function channelQueries(db: Database, known: Recall<readonly ChannelRow[]>): ChannelQueries {
  const byId = db.prepare<[string], StoredChannel>('SELECT * FROM channels WHERE id = ?')
  const byNumber = db.prepare<[string, string], StoredChannel>(
    `SELECT * FROM channels WHERE tenantId = ? AND number = ? AND ${LIVE} ORDER BY createdPosition DESC LIMIT 1`
  )
  const byPhoneNumberId = db.prepare<[string, number], StoredChannel>(
    `SELECT * FROM channels WHERE phoneNumberId = ? ORDER BY state = 'deleted', createdPosition DESC ${LIMIT}`
  )
  const ofWaba = db.prepare<[string, number], StoredChannel>(
    `SELECT * FROM channels WHERE wabaId = ? AND ${LIVE} ORDER BY createdPosition ${LIMIT}`
  )
  const ofTenant = db.prepare<[string, number, number], StoredChannel>(
    `SELECT * FROM channels WHERE tenantId = ? AND createdPosition < ? AND ${LIVE}
     ORDER BY createdPosition DESC ${LIMIT}`
  )
  const ids = db.prepare<[], string>(`SELECT id FROM channels WHERE ${LIVE} ORDER BY createdPosition`).pluck()

  const lookUp = (question: string, ask: () => readonly StoredChannel[]): readonly ChannelRow[] =>
    known.of(question, () => {
      const rows = ask().map(channelRow)
      return rows.length === 0 ? null : rows
    }) ?? []
  const channelById = (channelId: string): ChannelRow | null =>
    lookUp(`id|${channelId}`, () => byId.all(channelId))[0] ?? null

  function channel(tenantId: string, channelId: string): ChannelRow | null {
    const row = channelById(channelId)
    return row?.tenantId === tenantId ? row : null
  }

  return {
    channel,
    channelByRef(tenantId, ref) {
      const found = channel(tenantId, ref)
      if (found && found.state !== 'deleted') return found
      return lookUp(`number|${tenantId}|${ref}`, () => byNumber.all(tenantId, ref))[0] ?? null
    },
    channelById,
    channelsByPhoneNumberId: phoneNumberId =>
      lookUp(`platform|${phoneNumberId}`, () => byPhoneNumberId.all(phoneNumberId, LIVES_MAX)),
    channelsOfWaba: wabaId => ofWaba.all(wabaId, WABA_CHANNELS_MAX).map(channelRow),
    channels(tenantId, limit, cursor) {
      const before = decodeNumber('channels', cursor, Number.MAX_SAFE_INTEGER)
      const rows = ofTenant.all(tenantId, before, limit + 1)
      return pageOf('channels', rows, limit, row => [row.createdPosition], channelRow)
    },
    channelIds: () => ids.all(),
    ...auditQueries(db)
  }
}

function auditQueries(db: Database): Pick<Views, 'audit' | 'auditAt'> {
  const ofChannel = db.prepare<[string, number, number], StoredAudit>(
    `SELECT * FROM audit WHERE channelId = ? AND position < ? ORDER BY position DESC ${LIMIT}`
  )
  const at = db.prepare<[number], StoredAudit>('SELECT * FROM audit WHERE position = ?')
  return {
    audit(channelId, limit, before) {
      const from = decodeNumber('audit', before, Number.MAX_SAFE_INTEGER)
      const rows = ofChannel.all(channelId, from, limit + 1)
      return pageOf('audit', rows, limit, row => [row.position], auditRow)
    },
    auditAt(channelId, position) {
      const row = at.get(position)
      return row && row.channelId === channelId ? auditRow(row) : null
    }
  }
}

function channelRow(row: StoredChannel): ChannelRow {
  const { platformAppId, sessionBaseUrl, sessionOwn, secretsGeneration, isRestricted, connectedAt, ...shown } = row
  return { ...shown, isRestricted: isRestricted === 1 }
}

function auditRow({ position, channelId, ...shown }: StoredAudit): AuditRow {
  return shown
}
