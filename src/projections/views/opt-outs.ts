/** Contacts that want no more messages of a tenant, by the keyed hash that outlives an erasure. */
import type { ContactOptedIn, ContactOptedOut } from '../../domain/record.ts'
import type { Projection, RecordedOf, Table } from '../port.ts'

export const optOuts: Table = {
  name: 'opt_outs',
  columns: { tenantId: 'TEXT', contactIndex: 'TEXT' },
  keyLength: 2,
  indexes: [],
  withoutRowid: true
}

export const optOutsProjection: Projection = {
  name: 'opt-outs',
  version: 1,
  tables: [optOuts],
  handles: ['ContactOptedOut', 'ContactOptedIn'],
  apply(recorded, rows) {
    const { type, data } = recorded as RecordedOf<ContactOptedOut | ContactOptedIn>
    const { tenantId, index: contactIndex } = data
    if (type === 'ContactOptedOut') rows.put(optOuts, { tenantId, contactIndex })
    else rows.delete(optOuts, [tenantId, contactIndex])
  }
}
