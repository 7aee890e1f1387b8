/** Reports whose provider id nobody knew when they came (architecture, rule 5), until they are settled. */
import type { ReportHeld, ReportSettled } from '../../domain/record.ts'
import type { Projection, RecordedOf, Table } from '../port.ts'

export const heldReports: Table = {
  name: 'held_reports',
  columns: {
    id: 'TEXT',
    position: 'INTEGER',
    channelId: 'TEXT',
    providerIdIndex: 'TEXT',
    at: 'TEXT',
    providerAt: 'TEXT',
    data: 'TEXT'
  },
  keyLength: 1,
  indexes: ['(channelId, at)'],
  withoutRowid: true
}

export type StoredHeldReport = {
  id: string
  at: string
  providerAt: string | null
  /** JSON of the event's data. */
  data: string
}

export const heldReportsProjection: Projection = {
  name: 'held-reports',
  version: 2,
  tables: [heldReports],
  handles: ['ReportHeld', 'ReportSettled'],
  apply(recorded, rows, touch) {
    const event = recorded as RecordedOf<ReportHeld | ReportSettled>
    if (event.type === 'ReportSettled') return rows.delete(heldReports, [event.data.heldId])
    const { channelId, providerIdIndex } = event.data
    rows.put(heldReports, {
      id: event.id,
      position: event.position,
      channelId,
      providerIdIndex,
      at: event.at,
      providerAt: event.providerAt ?? null,
      data: JSON.stringify(event.data)
    })
    touch('held', channelId)
  }
}
