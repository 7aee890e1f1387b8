/**
 * How much of what happened in which hour: a row per channel and hour, and one for the whole tenant. Each count falls into
 * the hour of its own event; a message counts once a column and is never taken back: one that failed and then turned out
 * sent stays counted as failed and counts as dispatched too (decisions §3).
 */
import type { MessageEvent } from '../../domain/message-events.ts'
import type { Rows, Table } from '../port.ts'
import { ALL_CHANNELS } from './parties.ts'

export const HOUR_MS = 3_600_000

/** `hour`: hours since 1970. */
export const messageHours: Table = {
  name: 'message_hours',
  columns: {
    tenantNo: 'INTEGER',
    channelNo: 'INTEGER',
    hour: 'INTEGER',
    enqueued: 'INTEGER',
    dispatched: 'INTEGER',
    delivered: 'INTEGER',
    read: 'INTEGER',
    failed: 'INTEGER'
  },
  keyLength: 3,
  indexes: [],
  withoutRowid: true
}

type Counts = { enqueued: number; dispatched: number; delivered: number; read: number; failed: number }
type Column = keyof Counts
type Hour = Counts & { tenantNo: number; channelNo: number; hour: number }
/** What a message's row says of it here. `counted`: bits of the columns in which it is counted. */
type Counted = { readonly tenantNo: number; readonly channelNo: number; counted: number }

const BITS: Readonly<Record<Column, number>> = { enqueued: 1, dispatched: 2, delivered: 4, read: 8, failed: 16 }
const COLUMNS: Readonly<Partial<Record<MessageEvent['type'], readonly Column[]>>> = {
  MessageQueued: ['enqueued'],
  MessageSent: ['dispatched'],
  MessageDelivered: ['delivered'],
  // A platform that reports no delivery says by the reading that there was one.
  MessageRead: ['delivered', 'read'],
  MessageFailed: ['failed']
}

/** Counts the event, and notes in the message's row that it is counted. */
export function countEvent(rows: Rows, row: Counted, type: MessageEvent['type'], atMs: number): void {
  for (const column of COLUMNS[type] ?? []) {
    if ((row.counted & BITS[column]) !== 0) continue
    row.counted |= BITS[column]
    const hour = Math.floor(atMs / HOUR_MS)
    add(rows, row.tenantNo, row.channelNo, hour, column)
    add(rows, row.tenantNo, ALL_CHANNELS, hour, column)
  }
}

function add(rows: Rows, tenantNo: number, channelNo: number, hour: number, column: Column): void {
  const bucket = rows.get<Hour>(messageHours, [tenantNo, channelNo, hour]) ?? {
    tenantNo,
    channelNo,
    hour,
    enqueued: 0,
    dispatched: 0,
    delivered: 0,
    read: 0,
    failed: 0
  }
  bucket[column] += 1
  rows.put(messageHours, bucket)
}
