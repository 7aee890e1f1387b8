/** Questions about messages: tracking, provider ids, held reports, contacts. */
import type { Database } from 'better-sqlite3'
import type { ReportHeld } from '../../domain/record.ts'
import type { HeldReport, TrackingRow, Views } from '../port.ts'
import type { StoredHeldReport } from '../views/held-reports.ts'
import type { StoredMessage } from '../views/messages.ts'
import { hashOf, PROBES_MAX } from '../views/provider-ids.ts'
import { parseTimeline } from '../views/timeline.ts'

/** Live held reports of a channel (architecture, rule 5). */
const HELD_MAX = 1_000

type Match = { readonly id: string | null; readonly channelId: string; readonly providerIdIndex: string | null }
type MessageQueries = Pick<
  Views,
  'tracking' | 'messageByProviderId' | 'heldReports' | 'unsettledReports' | 'knows' | 'contactStream'
>

export function messageQueries(db: Database, messageNoOf: (messageId: string) => number | null): MessageQueries {
  const byNo = db.prepare<[number], StoredMessage>('SELECT * FROM messages WHERE messageNo = ?')
  const held = db.prepare<[string, string, number], StoredHeldReport>(
    `SELECT id, at, providerAt, data FROM held_reports
     WHERE channelId = ? AND providerIdIndex = ? ORDER BY position LIMIT ?`
  )
  const unsettled = db.prepare<[number], StoredHeldReport>(
    'SELECT id, at, providerAt, data FROM held_reports ORDER BY position LIMIT ?'
  )
  const acquainted = db.prepare('SELECT 1 FROM acquaintances WHERE channelId = ? AND contactId = ?').pluck()
  const streamOf = db.prepare<[string], string>('SELECT stream FROM contacts WHERE contactId = ?').pluck()

  return {
    tracking(tenantId, messageId) {
      const no = messageNoOf(messageId)
      const row = no === null ? undefined : byNo.get(no)
      return row && row.id === messageId && row.tenantId === tenantId ? trackingRow(row) : null
    },
    messageByProviderId: providerIdFinder(db),
    unsettledReports: limit => unsettled.all(limit).map(heldReport),
    heldReports: (channelId, providerIdIndex) => held.all(channelId, providerIdIndex, HELD_MAX).map(heldReport),
    knows: (channelId, contactId) => acquainted.get(channelId, contactId) !== undefined,
    contactStream: contactId => streamOf.get(contactId) ?? null
  }
}

function providerIdFinder(db: Database): Views['messageByProviderId'] {
  const matches = db.prepare<[number, number], Match>(
    `SELECT coalesce(m.id, r.id) AS id, coalesce(m.channelId, r.channelId) AS channelId,
       coalesce(m.providerIdIndex, r.providerIdIndex) AS providerIdIndex
     FROM provider_ids p
     LEFT JOIN messages m ON m.messageNo = p.messageNo
     LEFT JOIN received r ON r.messageNo = p.messageNo
     WHERE p.hash >= ? AND p.hash < ? ORDER BY p.hash`
  )
  return (channelId, providerIdIndex) => {
    const hash = hashOf(channelId, providerIdIndex)
    const found = matches
      .all(hash, hash + PROBES_MAX)
      .find(match => match.channelId === channelId && match.providerIdIndex === providerIdIndex)
    return found?.id ?? null
  }
}

function trackingRow(row: StoredMessage): TrackingRow {
  const { messageNo, providerIdIndex, events, ...shown } = row
  return { ...shown, events: parseTimeline(events) }
}

function heldReport({ id, at, providerAt, data }: StoredHeldReport): HeldReport {
  return { ...(JSON.parse(data) as ReportHeld['data']), id, at, providerAt }
}
