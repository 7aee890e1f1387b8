/** Questions about contacts: their key streams, opt-outs, who knows whom, and what of theirs is still to come. */
import type { Database } from 'better-sqlite3'
import type { QueueRow, Views } from '../port.ts'
import { optionalIso } from '../views/time.ts'
import type { Numbers } from './numbers.ts'

type ContactQueries = Pick<Views, 'contactStream' | 'knows' | 'lastInboundAt' | 'isOptedOut' | 'waitingFor'>

export function contactQueries(db: Database, numbers: Numbers): ContactQueries {
  const streamOf = db.prepare<[string], string | null>('SELECT stream FROM contacts WHERE contactId = ?').pluck()
  const optedOut = db.prepare('SELECT 1 FROM opt_outs WHERE tenantId = ? AND contactIndex = ?').pluck()
  const acquaintance = db.prepare<[number, number], { lastInboundAt: number | null }>(
    'SELECT lastInboundAt FROM acquaintances WHERE channelNo = ? AND contactNo = ?'
  )
  const waiting = db.prepare<[number, string, number], QueueRow>(
    `SELECT q.* FROM messages m INDEXED BY messages_2 CROSS JOIN queue q ON q.messageNo = m.messageNo
     WHERE m.contactNo = ? AND q.tenantId = ? AND q.state IN ('queued', 'retrying')
     ORDER BY m.createdAt, m.messageNo LIMIT ?`
  )

  function find(channelId: string, contactId: string): { lastInboundAt: number | null } | undefined {
    const channelNo = numbers.party(channelId)
    const contactNo = numbers.contact(contactId)
    return channelNo === null || contactNo === null ? undefined : acquaintance.get(channelNo, contactNo)
  }

  return {
    contactStream: contactId => streamOf.get(contactId) ?? null,
    knows: (channelId, contactId) => find(channelId, contactId) !== undefined,
    lastInboundAt: (channelId, contactId) => optionalIso(find(channelId, contactId)?.lastInboundAt ?? null),
    isOptedOut: (tenantId, index) => optedOut.get(tenantId, index) !== undefined,
    waitingFor(tenantId, contactId, limit) {
      const contactNo = numbers.contact(contactId)
      return contactNo === null ? [] : waiting.all(contactNo, tenantId, limit)
    }
  }
}
