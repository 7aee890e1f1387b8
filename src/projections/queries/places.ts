/** Questions about where sessions are hosted. */
import type { Database } from 'better-sqlite3'
import type { Views } from '../port.ts'

export function placeQueries(db: Database): Pick<Views, 'sessionsOn' | 'sessionsBefore'> {
  const on = db.prepare<[string], number>('SELECT count(*) FROM places WHERE baseUrl = ?').pluck()
  const before = db
    .prepare<[string], number>(
      `SELECT (SELECT count(*) FROM places earlier WHERE earlier.baseUrl = own.baseUrl AND earlier.position < own.position)
       FROM places own WHERE own.session = ?`
    )
    .pluck()
  return {
    sessionsOn: baseUrl => on.get(baseUrl) ?? 0,
    sessionsBefore: session => before.get(session) ?? null
  }
}
