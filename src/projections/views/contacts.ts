/**
 * Contacts: the small number that message rows know them by, their key stream, who has been in touch with which channel,
 * and erasures that are not finished. Holds no key; of an erased contact nothing but its random id and number.
 */
import type { ContactErased, ContactErasureCompleted, ContactKeyCreated } from '../../domain/record.ts'
import { shardOf } from '../../domain/shards.ts'
import type { RecordedOf, Rows, Table, Touch } from '../port.ts'
import { toMs } from './time.ts'

/**
 * `no`: position of the contact's first message, 0 before it. Not of its key: after an erasure that event is gone, and a
 * rebuild has to come to the same number.
 */
export const contacts: Table = {
  name: 'contacts',
  columns: { contactId: 'TEXT', no: 'INTEGER', stream: 'TEXT' },
  keyLength: 1,
  indexes: [],
  withoutRowid: true
}

export const acquaintances: Table = {
  name: 'acquaintances',
  columns: { channelNo: 'INTEGER', contactNo: 'INTEGER', lastInboundAt: 'INTEGER' },
  keyLength: 2,
  indexes: [],
  withoutRowid: true
}

/** A recorded erasure until it is completed. Keeps the name of the key stream, which the contact's row has lost. */
export const erasures: Table = {
  name: 'erasures',
  columns: { contactId: 'TEXT', tenantId: 'TEXT', stream: 'TEXT', due: 'TEXT', shard: 'INTEGER' },
  keyLength: 1,
  indexes: ['(due, shard)'],
  withoutRowid: true
}

const UNNUMBERED = 0

type Contact = { contactId: string; no: number; stream: string | null }
type Acquaintance = { channelNo: number; contactNo: number; lastInboundAt: number | null }
export type ContactEvent = ContactKeyCreated | ContactErased | ContactErasureCompleted

export function followContact(event: RecordedOf<ContactEvent>, rows: Rows, touch: Touch): void {
  const { contactId, tenantId } = event.data
  switch (event.type) {
    case 'ContactKeyCreated':
      rows.put(contacts, { contactId, no: UNNUMBERED, stream: event.stream })
      return
    case 'ContactErased': {
      const contact = rows.get<Contact>(contacts, [contactId])
      const shard = shardOf(contactId)
      rows.put(erasures, { contactId, tenantId, stream: contact?.stream ?? '', due: event.at, shard })
      if (contact?.no === UNNUMBERED) rows.delete(contacts, [contactId])
      else if (contact) rows.put(contacts, { ...contact, stream: null })
      // Only an end is worth telling: nobody keeps in mind that a contact has no stream.
      touch('contact', contactId)
      touch('todo', 'finish_erasure')
      return
    }
    case 'ContactErasureCompleted':
      rows.delete(erasures, [contactId])
  }
}

/** The contact's number; its first message gives it one. */
export function contactNo(rows: Rows, contactId: string, position: number): number {
  const known = rows.get<Contact>(contacts, [contactId])
  if (known && known.no !== UNNUMBERED) return known.no
  rows.put(contacts, { contactId, no: position, stream: known?.stream ?? null })
  return position
}

/** The provider accepted a message to the contact. */
export function noteAcceptance(rows: Rows, channelNo: number, contactNo: number): void {
  const known = rows.get<Acquaintance>(acquaintances, [channelNo, contactNo])
  if (!known) rows.put(acquaintances, { channelNo, contactNo, lastInboundAt: null })
}

export function noteInbound(rows: Rows, channelNo: number, contactNo: number, at: string): void {
  const known = rows.get<Acquaintance>(acquaintances, [channelNo, contactNo])
  const lastInboundAt = Math.max(known?.lastInboundAt ?? 0, toMs(at))
  rows.put(acquaintances, { channelNo, contactNo, lastInboundAt })
}
