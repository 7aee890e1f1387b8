/** The Read call: a stream or `$all`, forwards or backwards, once or as a subscription. */
import { randomUUID } from 'node:crypto'
import type pb from '@eventstore/db-client/generated/streams_pb.js'
import type { ServerWritableStream } from '@grpc/grpc-js'
import { status } from '@grpc/grpc-js'
import { rpcError, streamDeleted } from './faults.ts'
import { checkpoint, confirmation, eventAppeared, filterOf, nameOf, streamNotFound } from './messages.ts'
import type { Records, StoredRecord } from './records.ts'

export type ReadCall = ServerWritableStream<pb.ReadReq, pb.ReadResp>

/** Events that a filtered subscription looks at before it may report a checkpoint, when the client names no window. */
const DEFAULT_WINDOW = 32

export async function read(call: ReadCall, records: Records): Promise<void> {
  const options = call.request.getOptions()
  if (!options) return fail(call, rpcError(status.INVALID_ARGUMENT, 'no options'))
  if (options.hasSubscription()) return subscribe(call, options, records)
  if (options.hasFilter())
    return fail(call, rpcError(status.INVALID_ARGUMENT, 'this server filters subscriptions only'))
  if (options.hasStream()) return readStream(call, options, records)
  return readAll(call, options, records)
}

export const fail = (call: ReadCall, error: object): void => void call.emit('error', error)

async function readStream(call: ReadCall, options: pb.ReadReq.Options, records: Records): Promise<void> {
  const stream = options.getStream()
  const name = nameOf(stream?.getStreamIdentifier())
  const backwards = options.getReadDirection() === 1
  const from = stream?.hasEnd() ? 'end' : stream?.hasStart() ? 0 : Number(stream?.getRevision())
  const found = records.read(name, from, backwards, Number(options.getCount()))
  if (found.kind === 'deleted') return fail(call, streamDeleted(name))
  if (found.kind === 'missing') await send(call, streamNotFound(stream?.getStreamIdentifier()))
  else for (const record of found.records) if (!(await send(call, eventAppeared(record, false)))) return
  call.end()
}

async function readAll(call: ReadCall, options: pb.ReadReq.Options, { log }: Records): Promise<void> {
  const all = options.getAll()
  const backwards = options.getReadDirection() === 1
  const position = Number(all?.getPosition()?.getCommitPosition())
  const at = all?.hasPosition() ? placeOf(log, position) : all?.hasEnd() ? log.length : 0
  const beyond = position > (log.at(-1)?.position ?? 0)
  // In the middle of a record there is nothing that can be read.
  if (all?.hasPosition() && !beyond && log[at]?.position !== position)
    return fail(call, rpcError(status.UNKNOWN, 'Unexpected ReadAllResult: Error'))
  const count = Number(options.getCount())
  // Forwards includes the position that it begins at, backwards does not.
  const page = backwards ? log.slice(Math.max(0, at - count), at).toReversed() : log.slice(at, at + count)
  for (const record of page) if (!(await send(call, eventAppeared(record, true)))) return
  call.end()
}

async function subscribe(call: ReadCall, options: pb.ReadReq.Options, records: Records): Promise<void> {
  const stream = options.hasStream() ? nameOf(options.getStream()?.getStreamIdentifier()) : null
  const filter = filterOf(options.getFilter())
  const interval = checkpointInterval(options.getFilter())
  let next = firstOf(options, records.log)
  let considered = 0
  let wake = (): void => {}
  const stop = records.listen(() => wake())
  call.on('cancelled', () => wake())
  if (!(await send(call, confirmation(randomUUID())))) return stop()
  while (!call.cancelled && !call.destroyed) {
    const record = records.log[next]
    if (!record) {
      await new Promise<void>(resolve => {
        wake = resolve
      })
      continue
    }
    next++
    if (stream === null ? filter(record) : record.stream === stream && isAfter(options, record))
      if (!(await send(call, eventAppeared(record, stream === null)))) break
    considered++
    if (interval > 0 && considered % interval === 0 && !(await send(call, checkpoint(record.position)))) break
  }
  stop()
}

/** Index of the first record that a subscription looks at: the one after the position that it was given. */
function firstOf(options: pb.ReadReq.Options, log: readonly StoredRecord[]): number {
  const all = options.getAll()
  if (all?.hasEnd()) return log.length
  if (!all?.hasPosition()) return 0
  const position = Number(all.getPosition()?.getCommitPosition())
  const at = placeOf(log, position)
  return log[at]?.position === position ? at + 1 : at
}

function isAfter(options: pb.ReadReq.Options, record: StoredRecord): boolean {
  const stream = options.getStream()
  return stream?.hasStart() === true || Number(record.revision) > Number(stream?.getRevision())
}

function checkpointInterval(filter: pb.ReadReq.Options.FilterOptions | undefined): number {
  if (!filter) return 0
  return filter.getCheckpointintervalmultiplier() * (filter.hasMax() ? filter.getMax() : DEFAULT_WINDOW)
}

/** Index of the first record at or after a position. */
function placeOf(log: readonly StoredRecord[], position: number): number {
  let low = 0
  let high = log.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((log[middle]?.position ?? 0) < position) low = middle + 1
    else high = middle
  }
  return low
}

/** Waits while the client does not read; false when it has gone. */
function send(call: ReadCall, message: pb.ReadResp): Promise<boolean> {
  if (call.cancelled || call.destroyed) return Promise.resolve(false)
  if (call.write(message)) return Promise.resolve(true)
  return new Promise(resolve => {
    const done = (): void => {
      call.off('drain', done)
      call.off('cancelled', done)
      resolve(!call.cancelled)
    }
    call.on('drain', done)
    call.on('cancelled', done)
  })
}
