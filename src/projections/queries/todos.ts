/** Questions of the reactors: what is left to do, and which attempts live. */
import type { Database } from 'better-sqlite3'
import { LIMIT } from '../../log/sqlite/limit.ts'
import type { TodoRow, Views } from '../port.ts'

/** Waiting messages of deleted numbers are read from the queue's depths: the count there is the work. */
const TODOS = `
  SELECT kind, stream, subject, due, shard FROM todos
  UNION ALL SELECT 'fail_waiting', 'channel-' || channelId, channelId, deletedAt, shard
    FROM queue_depths WHERE deletedAt IS NOT NULL AND waiting > 0
  UNION ALL SELECT 'finish_erasure', 'erasure-' || contactId, contactId, due, shard FROM erasures`

/** Of the shards in a list of JSON. Other nodes' rows are passed over in the index, however many there are. */
const OURS = 'shard IN (SELECT value FROM json_each(?))'

/** Comes before every row. */
const START: { readonly due: string; readonly kind: string; readonly subject: string } = {
  due: '',
  kind: '',
  subject: ''
}

export function todoQueries(db: Database): Pick<Views, 'liveAttempts' | 'dueTodos' | 'nextTodoDue'> {
  const attempts = db.prepare<[], string>('SELECT attemptId FROM attempts ORDER BY position').pluck()
  const due = db.prepare<[string, string, string, string, string, number], TodoRow>(
    `SELECT kind, stream, subject, due FROM (${TODOS})
     WHERE ${OURS} AND due <= ? AND (due, kind, subject) > (?, ?, ?) ORDER BY due, kind, subject ${LIMIT}`
  )
  const next = db.prepare<[string], string | null>(`SELECT min(due) FROM (${TODOS}) WHERE ${OURS}`).pluck()
  return {
    liveAttempts: () => attempts.all(),
    dueTodos(now, shards, limit, after) {
      const last = after ?? START
      return due.all(JSON.stringify(shards), now, last.due, last.kind, last.subject, limit)
    },
    nextTodoDue: shards => next.get(JSON.stringify(shards)) ?? null
  }
}
