/** The dispatch queue: a row per message that waits, is under way or in doubt, and per channel how many there are. */
import type { ChannelEvent } from '../../domain/channel.ts'
import type { MessageEvent } from '../../domain/message-events.ts'
import { shardOf } from '../../domain/shards.ts'
import type { Projection, QueueRow, RecordedOf, Rows, Table, Touch } from '../port.ts'
import { channelIdOf } from './stream-ids.ts'

export const queue: Table = {
  name: 'queue',
  columns: {
    messageNo: 'INTEGER',
    messageId: 'TEXT',
    tenantId: 'TEXT',
    channelId: 'TEXT',
    contactId: 'TEXT',
    position: 'INTEGER',
    state: 'TEXT',
    attempts: 'INTEGER',
    retryAt: 'TEXT',
    expiresAt: 'TEXT',
    timeoutAt: 'TEXT',
    queuedAt: 'TEXT',
    shard: 'INTEGER'
  },
  keyLength: 1,
  // Partial ones: a row stands in those of its state only.
  indexes: [
    `(channelId, position) WHERE state = 'queued'`,
    `(channelId, retryAt) WHERE state = 'retrying'`,
    `(channelId, position) WHERE state = 'dispatching'`,
    `(channelId, position) WHERE state = 'indeterminate'`,
    `(timeoutAt, shard) WHERE state = 'indeterminate'`,
    `(expiresAt, shard) WHERE expiresAt IS NOT NULL AND state IN ('queued', 'retrying')`
  ],
  fixed: ['messageId', 'tenantId', 'channelId', 'contactId', 'position', 'expiresAt', 'queuedAt', 'shard']
}

/** A channel without rows has none here either; a deleted one keeps its row, as a message may come after the deletion. */
export const queueDepths: Table = {
  name: 'queue_depths',
  columns: {
    channelId: 'TEXT',
    waiting: 'INTEGER',
    dispatching: 'INTEGER',
    indeterminate: 'INTEGER',
    deletedAt: 'TEXT',
    shard: 'INTEGER'
  },
  keyLength: 1,
  indexes: ['(channelId) WHERE waiting > 0', '(deletedAt, shard) WHERE deletedAt IS NOT NULL AND waiting > 0'],
  withoutRowid: true
}

type State = QueueRow['state']
type StoredQueueRow = { -readonly [K in keyof QueueRow]: QueueRow[K] } & { shard: number }
type Depth = {
  channelId: string
  waiting: number
  dispatching: number
  indeterminate: number
  deletedAt: string | null
  shard: number
}
type Handled = MessageEvent | Extract<ChannelEvent, { type: 'ChannelDeleted' }>

export const dispatchQueueProjection: Projection = {
  name: 'dispatch-queue',
  version: 2,
  tables: [queue, queueDepths],
  handles: [
    'MessageQueued',
    'MessageDispatchStarted',
    'MessageSent',
    'MessageRetryScheduled',
    'MessageDispatchUnknown',
    'MessageFailed',
    'ChannelDeleted'
  ],
  apply(recorded, rows, touch) {
    const event = recorded as RecordedOf<Handled>
    if (event.type === 'ChannelDeleted') return noteDeletion(event, rows, touch)
    if (event.type === 'MessageQueued') return admit(event, rows, touch)
    const row = rows.get<StoredQueueRow>(queue, [event.streamNo])
    // Late proof of a message that had failed: it left the queue long ago.
    if (!row) return
    const before = row.state
    const after = advance(row, event)
    if (after === null) rows.delete(queue, [row.messageNo])
    else rows.put(queue, { ...row, state: after })
    count(rows, row.channelId, before, after)
    touch('dispatch', row.channelId)
    // The dispatcher knows its own steps; news are when to try again, and when to give up.
    if (after === 'retrying' || after === 'indeterminate') touch('queue', row.channelId)
  }
}

function noteDeletion(event: RecordedOf<Handled>, rows: Rows, touch: Touch): void {
  const channelId = channelIdOf(event.stream)
  const depth = depthOf(rows, channelId)
  rows.put(queueDepths, { ...depth, deletedAt: event.at })
  if (depth.waiting > 0) touch('todo', 'fail_waiting')
}

function admit(event: RecordedOf<Extract<MessageEvent, { type: 'MessageQueued' }>>, rows: Rows, touch: Touch): void {
  const { messageId, tenantId, channelId, contactId, expiresAt } = event.data
  const row: StoredQueueRow = {
    messageNo: event.streamNo,
    messageId,
    tenantId,
    channelId,
    contactId,
    position: event.position,
    state: 'queued',
    attempts: 0,
    retryAt: null,
    expiresAt: expiresAt ?? null,
    timeoutAt: null,
    queuedAt: event.at,
    shard: 0
  }
  const depth = count(rows, channelId, null, 'queued')
  // The hash of the channel's id is taken once, not with every message.
  row.shard = depth.shard
  rows.put(queue, row)
  touch('queue', channelId)
  if (depth.deletedAt !== null) touch('todo', 'fail_waiting')
}

/** Changes the row's numbers and times; answers its next state, null when it leaves the queue. */
function advance(row: StoredQueueRow, event: RecordedOf<Handled>): State | null {
  switch (event.type) {
    case 'MessageDispatchStarted':
      row.attempts = event.data.attempt
      row.retryAt = null
      return 'dispatching'
    case 'MessageRetryScheduled':
      if (event.data.channelTrouble) row.attempts -= 1
      row.retryAt = event.data.retryAt
      row.timeoutAt = null
      return 'retrying'
    case 'MessageDispatchUnknown':
      row.timeoutAt = event.data.timeoutAt
      return 'indeterminate'
    default:
      return null
  }
}

const COUNTER = {
  queued: 'waiting',
  retrying: 'waiting',
  dispatching: 'dispatching',
  indeterminate: 'indeterminate'
} as const satisfies Record<State, keyof Depth>

function count(rows: Rows, channelId: string, before: State | null, after: State | null): Depth {
  const depth = depthOf(rows, channelId)
  if (before !== null) depth[COUNTER[before]] -= 1
  if (after !== null) depth[COUNTER[after]] += 1
  const isEmpty = depth.waiting + depth.dispatching + depth.indeterminate === 0
  if (isEmpty && depth.deletedAt === null) rows.delete(queueDepths, [channelId])
  else rows.put(queueDepths, depth)
  return depth
}

const depthOf = (rows: Rows, channelId: string): Depth =>
  rows.get<Depth>(queueDepths, [channelId]) ?? {
    channelId,
    waiting: 0,
    dispatching: 0,
    indeterminate: 0,
    deletedAt: null,
    shard: shardOf(channelId)
  }
