/** Questions about contacts: their key streams, opt-outs, who knows whom, and what of theirs is still to come. */
import type { Database } from 'better-sqlite3'
import { LIMIT } from '../../log/sqlite/limit.ts'
import type { ErasureRow, QueueRow, Views } from '../port.ts'
import { listed } from '../views/lists.ts'
import { optionalIso } from '../views/time.ts'
import type { Numbers } from './numbers.ts'

type ContactQueries = Pick<
  Views,
  | 'contactStream'
  | 'identities'
  | 'erasure'
  | 'unfinishedErasures'
  | 'knows'
  | 'lastInboundAt'
  | 'isOptedOut'
  | 'waitingFor'
>
type Identity = { stream: string | null; aliases: string | null; contactIds: string | null }
type Left = { contactId: string; tenantId: string; contactIds: string; streams: string }

export function contactQueries(db: Database, numbers: Numbers): ContactQueries {
  const streamOf = db.prepare<[string], string | null>('SELECT stream FROM contacts WHERE contactId = ?').pluck()
  const identity = db.prepare<[string], Identity>(
    `SELECT c.stream, c.aliases, g.contactIds FROM contacts c LEFT JOIN contact_groups g ON g.groupId = c.groupId
     WHERE c.contactId = ?`
  )
  const erasures = 'SELECT contactId, tenantId, contactIds, streams FROM erasures'
  const left = db.prepare<[string], Left>(`${erasures} WHERE contactId = ?`)
  const unfinished = db.prepare<[], Left>(`${erasures} ORDER BY due, contactId`)
  const optedOut = db.prepare('SELECT 1 FROM opt_outs WHERE tenantId = ? AND contactIndex = ?').pluck()
  const acquaintance = db.prepare<[number, number], { lastInboundAt: number | null }>(
    'SELECT lastInboundAt FROM acquaintances WHERE channelNo = ? AND contactNo = ?'
  )
  const waiting = db.prepare<[number, string, number], QueueRow>(
    `SELECT q.* FROM messages m INDEXED BY messages_2 CROSS JOIN queue q ON q.messageNo = m.messageNo
     WHERE m.contactNo = ? AND q.tenantId = ? AND q.state IN ('queued', 'retrying')
     ORDER BY m.createdAt, m.messageNo ${LIMIT}`
  )

  function find(channelId: string, contactId: string): readonly { lastInboundAt: number | null }[] {
    const channelNo = numbers.party(channelId)
    if (channelNo === null) return []
    return numbers.person(contactId).flatMap(no => acquaintance.get(channelNo, no) ?? [])
  }

  function streamsOf({ stream, aliases }: Identity): readonly string[] {
    return [...(stream === null ? [] : [stream]), ...listed(aliases)]
  }

  return {
    contactStream: contactId => streamOf.get(contactId) ?? null,
    identities(contactId) {
      const found = identity.get(contactId)
      if (!found) return { contactIds: [contactId], streams: [] }
      if (found.contactIds === null) return { contactIds: [contactId], streams: streamsOf(found) }
      const contactIds = listed(found.contactIds)
      return { contactIds, streams: contactIds.flatMap(id => identity.all(id).flatMap(streamsOf)) }
    },
    erasure(contactId) {
      const found = left.get(contactId)
      return found ? erasureRow(found) : null
    },
    unfinishedErasures: () => unfinished.all().map(erasureRow),
    knows: (channelId, contactId) => find(channelId, contactId).length > 0,
    lastInboundAt: (channelId, contactId) =>
      optionalIso(Math.max(0, ...find(channelId, contactId).map(known => known.lastInboundAt ?? 0)) || null),
    isOptedOut: (tenantId, index) => optedOut.get(tenantId, index) !== undefined,
    waitingFor(tenantId, contactId, limit) {
      const contactNo = numbers.contact(contactId)
      return contactNo === null ? [] : waiting.all(contactNo, tenantId, limit)
    }
  }
}

const erasureRow = ({ contactIds, streams, ...row }: Left): ErasureRow => ({
  ...row,
  contactIds: listed(contactIds),
  streams: listed(streams)
})
