/** Pairing attempts that are not over: still pairing, or paired and without their channel. */
import type { AttemptEvent } from '../../domain/attempt.ts'
import type { Projection, RecordedOf, Table } from '../port.ts'
import { attemptIdOf } from './stream-ids.ts'

export const attempts: Table = {
  name: 'attempts',
  columns: { attemptId: 'TEXT', position: 'INTEGER' },
  keyLength: 1,
  indexes: [],
  withoutRowid: true
}

export const attemptsProjection: Projection = {
  name: 'attempts',
  version: 1,
  tables: [attempts],
  handles: ['AttemptStarted', 'AttemptConnected', 'AttemptFailed', 'AttemptExpired', 'AttemptCancelled'],
  apply(recorded, rows) {
    const event = recorded as RecordedOf<AttemptEvent>
    const attemptId = attemptIdOf(event.stream)
    if (event.type === 'AttemptStarted') rows.put(attempts, { attemptId, position: event.position })
    else rows.delete(attempts, [attemptId])
  }
}
