import type { RecordedEvent as ServerEvent } from '@eventstore/db-client'
import type { Position, RecordedEvent } from '../port.ts'
import type { Numbers } from './numbers.ts'
import { decodeEvent, positionOf } from './wire-event.ts'

const TOMBSTONE = '$streamDeleted'

/** What was read in log order without a gap: from after `from` up to `to`. */
export type Range = {
  readonly numbers: Numbers
  readonly prefix: string
  readonly from: Position
  readonly to: Position
}

/** Our events of a page with their streams' numbers; without tombstones, erased streams and what others wrote. */
export function numbered(records: readonly ServerEvent[], { numbers, prefix, from, to }: Range): RecordedEvent[] {
  const found = records.flatMap(record => {
    const stored = record.type.startsWith('$') ? null : decodeEvent(record, prefix)
    const isEnd = record.type === TOMBSTONE
    if (!stored && !isEnd) return []
    const stream = record.streamId.slice(prefix.length)
    return [{ stored, isEnd, stream, revision: Number(record.revision), position: positionOf(record) }]
  })
  const streamNumbers = numbers.take(found, from, to)
  return found.flatMap(({ stored, position }, index) => {
    const streamNo = streamNumbers[index] ?? null
    if (!stored || streamNo === null) return []
    const { event, stream, revision, hash } = stored
    return [{ ...event, position, stream, streamNo, revision, hash }]
  })
}
