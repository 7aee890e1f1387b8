/** Questions of the reactors: what is left to do, and which attempts live. */
import type { Database } from 'better-sqlite3'
import type { TodoRow, Views } from '../port.ts'

/** Waiting messages of deleted numbers are read from the queue's depths: the count there is the work. */
const FAIL_WAITING = `
  SELECT 'fail_waiting' AS kind, 'channel-' || channelId AS stream, channelId AS subject, deletedAt AS due,
    NULL AS tenantId
  FROM queue_depths WHERE deletedAt IS NOT NULL AND waiting > 0`

const FINISH_ERASURE = `
  SELECT 'finish_erasure' AS kind, stream, contactId AS subject, due, tenantId FROM erasures`

export function todoQueries(db: Database): Pick<Views, 'liveAttempts' | 'dueTodos' | 'nextTodoDue'> {
  const attempts = db.prepare<[], string>('SELECT attemptId FROM attempts ORDER BY position').pluck()
  const due = db.prepare<[string, string, string, number], TodoRow>(
    `SELECT kind, stream, subject, due, NULL AS tenantId FROM todos WHERE due <= ?
     UNION ALL ${FAIL_WAITING} AND deletedAt <= ?
     UNION ALL ${FINISH_ERASURE} WHERE due <= ?
     ORDER BY due, kind, subject LIMIT ?`
  )
  const next = db
    .prepare<[], string | null>(
      `SELECT min(due) FROM (SELECT min(due) AS due FROM todos
       UNION ALL SELECT min(due) FROM erasures
       UNION ALL SELECT min(deletedAt) FROM queue_depths WHERE deletedAt IS NOT NULL AND waiting > 0)`
    )
    .pluck()
  return {
    liveAttempts: () => attempts.all(),
    dueTodos: (now, limit) => due.all(now, now, now, limit),
    nextTodoDue: () => next.get() ?? null
  }
}
