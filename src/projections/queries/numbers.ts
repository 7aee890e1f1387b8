/** The small numbers of tenants, channels and contacts, and back (views/parties.ts, views/contacts.ts). */
import type { Database } from 'better-sqlite3'

export type Numbers = {
  /** Null: no message was ever of that tenant or channel. */
  party(id: string): number | null
  contact(contactId: string): number | null
  idOf(no: number): string
}

/** Parties kept in mind; a party never changes its number. */
const KEPT_MAX = 10_000

export function createNumbers(db: Database): Numbers {
  const byId = db.prepare<[string], number>('SELECT no FROM party_numbers WHERE id = ?').pluck()
  const byNo = db.prepare<[number], string>('SELECT id FROM parties WHERE no = ?').pluck()
  const contact = db.prepare<[string], number>('SELECT no FROM contacts WHERE contactId = ?').pluck()
  const ids = new Map<number, string>()

  return {
    party: id => byId.get(id) ?? null,
    contact: contactId => contact.get(contactId) ?? null,
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
