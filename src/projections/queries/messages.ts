/** Questions about single messages: tracking, provider ids, held reports; and about failures of a channel's messages. */
import type { Database } from 'better-sqlite3'
import type { ReportHeld } from '../../domain/record.ts'
import { LIMIT } from '../../log/sqlite/limit.ts'
import type { HeldReport, Views } from '../port.ts'
import type { StoredHeldReport } from '../views/held-reports.ts'
import type { StoredMessage } from '../views/message-tables.ts'
import { hashOf, PROBES_MAX } from '../views/provider-ids.ts'
import { toMs } from '../views/time.ts'
import { parseTimeline } from '../views/timeline.ts'
import { messageRow } from './message-list.ts'
import type { Numbers } from './numbers.ts'

type Match = { readonly id: string | null; readonly channelNo: number; readonly providerIdIndex: string | null }
type MessageQueries = Pick<
  Views,
  'tracking' | 'messageByProviderId' | 'heldSince' | 'channelsWithHeldReports' | 'unsettledReports' | 'failuresSince'
>

export function messageQueries(
  db: Database,
  numbers: Numbers,
  messageNoOf: (messageId: string) => number | null
): MessageQueries {
  const byNo = db.prepare<[number], StoredMessage>('SELECT * FROM messages WHERE messageNo = ?')
  const held = db
    .prepare<[string, string], number>('SELECT count(*) FROM held_reports WHERE channelId = ? AND at >= ?')
    .pluck()
  const unsettled = db.prepare<[string, string, number], StoredHeldReport>(
    `SELECT id, at, providerAt, data FROM held_reports WHERE channelId = ? AND at >= ? ORDER BY at DESC, position DESC ${LIMIT}`
  )
  const withHeld = db.prepare<[], string>('SELECT DISTINCT channelId FROM held_reports').pluck()
  const failures = db
    .prepare<[number, number], number>(
      `SELECT count(*) FROM failure_heads h JOIN provider_failures f ON f.channelNo = h.channelNo
       WHERE h.channelNo = ? AND f.no > h.released AND f.at > ?`
    )
    .pluck()

  return {
    tracking(tenantId, messageId) {
      const no = messageNoOf(messageId)
      const stored = no === null ? undefined : byNo.get(no)
      if (!stored || stored.id !== messageId) return null
      const { contactNo, counted, sentPosition, providerIdIndex, events, ...listed } = stored
      const row = messageRow(listed, numbers)
      return row.tenantId === tenantId ? { ...row, events: parseTimeline(events) } : null
    },
    messageByProviderId: providerIdFinder(db, numbers),
    channelsWithHeldReports: () => withHeld.all(),
    unsettledReports: (channelId, since, limit) => unsettled.all(channelId, since, limit).map(heldReport),
    heldSince: (channelId, since) => held.get(channelId, since) ?? 0,
    failuresSince(channelId, since) {
      const channelNo = numbers.party(channelId)
      return channelNo === null ? 0 : (failures.get(channelNo, toMs(since)) ?? 0)
    }
  }
}

function providerIdFinder(db: Database, numbers: Numbers): Views['messageByProviderId'] {
  const matches = db.prepare<[number, number], Match>(
    `SELECT coalesce(m.id, r.id) AS id, coalesce(m.channelNo, r.channelNo) AS channelNo,
       coalesce(m.providerIdIndex, r.providerIdIndex) AS providerIdIndex
     FROM provider_ids p
     LEFT JOIN messages m ON m.messageNo = p.messageNo
     LEFT JOIN received r ON r.messageNo = p.messageNo
     WHERE p.hash >= ? AND p.hash < ? ORDER BY p.hash`
  )
  return (channelId, providerIdIndex) => {
    const channelNo = numbers.party(channelId)
    if (channelNo === null) return null
    const hash = hashOf(channelNo, providerIdIndex)
    const found = matches
      .all(hash, hash + PROBES_MAX)
      .find(match => match.channelNo === channelNo && match.providerIdIndex === providerIdIndex)
    return found?.id ?? null
  }
}

function heldReport({ id, at, providerAt, data }: StoredHeldReport): HeldReport {
  return { ...(JSON.parse(data) as ReportHeld['data']), id, at, providerAt }
}
