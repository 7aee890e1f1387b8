/** Questions of the dispatcher. */
import type { Database } from 'better-sqlite3'
import { LIMIT } from '../../log/sqlite/limit.ts'
import type { QueueRow, Views } from '../port.ts'

type QueueQueries = Pick<
  Views,
  | 'channelsWithWork'
  | 'queuedAfter'
  | 'dueRetries'
  | 'nextRetryDue'
  | 'queued'
  | 'dispatching'
  | 'nextQueueDue'
  | 'dueInQueue'
  | 'queueDepth'
  | 'hasInDoubt'
>

const ROW = `messageNo, messageId, tenantId, channelId, contactId, position, state, attempts, retryAt, expiresAt, timeoutAt,
  queuedAt`

export function queueQueries(db: Database): QueueQueries {
  const withWork = db.prepare<[], string>('SELECT channelId FROM queue_depths WHERE waiting > 0').pluck()
  const dispatching = db.prepare<[], QueueRow>(`SELECT ${ROW} FROM queue WHERE state = 'dispatching' ORDER BY position`)
  const inDoubt = db
    .prepare<[string], number>('SELECT dispatching + indeterminate FROM queue_depths WHERE channelId = ?')
    .pluck()
  const queuedAfter = db.prepare<[string, number, number], QueueRow>(
    `SELECT ${ROW} FROM queue WHERE channelId = ? AND state = 'queued' AND position > ? ORDER BY position ${LIMIT}`
  )
  const dueRetries = db.prepare<[string, string, number], QueueRow>(
    `SELECT ${ROW} FROM queue WHERE channelId = ? AND state = 'retrying' AND retryAt <= ? ORDER BY retryAt ${LIMIT}`
  )
  const nextRetry = db
    .prepare<[string], string | null>(`SELECT min(retryAt) FROM queue WHERE channelId = ? AND state = 'retrying'`)
    .pluck()
  return {
    channelsWithWork: () => withWork.all(),
    queuedAfter: (channelId, afterPosition, limit) => queuedAfter.all(channelId, afterPosition, limit),
    dueRetries: (channelId, now, limit) => dueRetries.all(channelId, now, limit).sort(byAdmission),
    nextRetryDue: channelId => nextRetry.get(channelId) ?? null,
    queued: stateReader(db),
    dispatching: () => dispatching.all(),
    ...dueQueries(db),
    queueDepth: depthReader(db),
    hasInDoubt: channelId => (inDoubt.get(channelId) ?? 0) > 0
  }
}

/** Those that are due first are read; what a page of them holds goes out in admission order. */
const byAdmission = (one: QueueRow, other: QueueRow): number => one.position - other.position

function stateReader(db: Database): Views['queued'] {
  // The state is part of the text: only so the index of that state serves.
  const reader = (state: QueueRow['state']) =>
    db.prepare<[string, number], QueueRow>(
      `SELECT ${ROW} FROM queue WHERE channelId = ? AND state = '${state}' ORDER BY position ${LIMIT}`
    )
  const readers = {
    queued: reader('queued'),
    retrying: reader('retrying'),
    dispatching: reader('dispatching'),
    indeterminate: reader('indeterminate')
  }
  return (channelId, state, limit) => readers[state].all(channelId, limit)
}

const EXPIRING = `expiresAt IS NOT NULL AND state IN ('queued', 'retrying')`

function dueQueries(db: Database): Pick<Views, 'nextQueueDue' | 'dueInQueue'> {
  const next = db
    .prepare<[], string | null>(
      `SELECT min(due) FROM (
        SELECT min(expiresAt) AS due FROM queue WHERE ${EXPIRING}
        UNION ALL SELECT min(timeoutAt) FROM queue WHERE state = 'indeterminate')`
    )
    .pluck()
  // Rows of other nodes' shards are passed over in the index, however many there are.
  const ours = 'shard IN (SELECT value FROM json_each(?))'
  const expired = db.prepare<[string, string, number], QueueRow>(
    `SELECT ${ROW} FROM queue WHERE ${EXPIRING} AND expiresAt <= ? AND ${ours} ORDER BY expiresAt ${LIMIT}`
  )
  const timedOut = db.prepare<[string, string, number], QueueRow>(
    `SELECT ${ROW} FROM queue WHERE state = 'indeterminate' AND timeoutAt <= ? AND ${ours} ORDER BY timeoutAt ${LIMIT}`
  )
  return {
    nextQueueDue: () => next.get() ?? null,
    dueInQueue(now, shards, limit) {
      const list = JSON.stringify(shards)
      const due = [
        ...expired.all(now, list, limit).map(row => ({ ...row, due: 'expiry' as const, dueAt: row.expiresAt ?? now })),
        ...timedOut.all(now, list, limit).map(row => ({ ...row, due: 'timeout' as const, dueAt: row.timeoutAt ?? now }))
      ]
      due.sort((one, other) => (one.dueAt < other.dueAt ? -1 : Number(one.dueAt > other.dueAt)))
      return due.slice(0, limit).map(({ dueAt, ...row }) => row)
    }
  }
}

function depthReader(db: Database): Views['queueDepth'] {
  const depth = db.prepare<[string], number>('SELECT waiting FROM queue_depths WHERE channelId = ?').pluck()
  const oldest = db
    .prepare<[string, string], string | null>(
      `SELECT min(queuedAt) FROM (
        SELECT * FROM (SELECT queuedAt FROM queue WHERE channelId = ? AND state = 'queued' ORDER BY position LIMIT 1)
        UNION ALL SELECT min(queuedAt) FROM queue WHERE channelId = ? AND state = 'retrying')`
    )
    .pluck()
  return channelId => {
    const waiting = depth.get(channelId) ?? 0
    return { depth: waiting, oldestAt: waiting === 0 ? null : (oldest.get(channelId, channelId) ?? null) }
  }
}
