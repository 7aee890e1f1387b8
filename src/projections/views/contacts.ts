/** Which key stream belongs to a contact. Holds no key, and nothing at all of an erased contact. */
import type { ContactErased, ContactKeyCreated } from '../../domain/record.ts'
import type { Projection, RecordedOf, Table } from '../port.ts'

export const contacts: Table = {
  name: 'contacts',
  columns: { contactId: 'TEXT', stream: 'TEXT' },
  keyLength: 1,
  indexes: [],
  withoutRowid: true
}

export const contactsProjection: Projection = {
  name: 'contacts',
  version: 1,
  tables: [contacts],
  handles: ['ContactKeyCreated', 'ContactErased'],
  apply(recorded, rows, touch) {
    const event = recorded as RecordedOf<ContactKeyCreated | ContactErased>
    const { contactId } = event.data
    if (event.type === 'ContactKeyCreated') return rows.put(contacts, { contactId, stream: event.stream })
    // Only an end is worth telling: nobody keeps in mind that a contact has no stream.
    rows.delete(contacts, [contactId])
    touch('contact', contactId)
  }
}
