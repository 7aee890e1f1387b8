/** The small numbers of tenants, channels and contacts, and back (views/parties.ts, views/contacts.ts). */
import type { Database } from 'better-sqlite3'
import { listed } from '../views/lists.ts'

export type Numbers = {
  /** Null: no message was ever of that tenant or channel. */
  party(id: string): number | null
  contact(contactId: string): number | null
  /** Of all contacts that are the same person; empty: nobody that we know. */
  person(contactId: string): readonly number[]
  idOf(no: number): string
}

/** Parties kept in mind; a party never changes its number. */
const KEPT_MAX = 10_000

export function createNumbers(db: Database): Numbers {
  const byId = db.prepare<[string], number>('SELECT no FROM party_numbers WHERE id = ?').pluck()
  const byNo = db.prepare<[number], string>('SELECT id FROM parties WHERE no = ?').pluck()
  const contact = db.prepare<[string], number>('SELECT no FROM contacts WHERE contactId = ?').pluck()
  const person = db.prepare<[string], { no: number; contactIds: string | null }>(
    'SELECT c.no, g.contactIds FROM contacts c LEFT JOIN contact_groups g ON g.groupId = c.groupId WHERE c.contactId = ?'
  )
  const ids = new Map<number, string>()

  return {
    party: id => byId.get(id) ?? null,
    contact: contactId => contact.get(contactId) ?? null,
    person(contactId) {
      const found = person.get(contactId)
      if (!found) return []
      return found.contactIds === null ? [found.no] : listed(found.contactIds).map(id => contact.get(id) ?? 0)
    },
    idOf(no) {
      const kept = ids.get(no)
      if (kept !== undefined) return kept
      const id = byNo.get(no) ?? ''
      if (ids.size >= KEPT_MAX) ids.clear()
      ids.set(no, id)
      return id
    }
  }
}
