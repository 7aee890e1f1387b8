/** What an EventStoreDB server keeps, in memory: one log of records, and where each stream's are. */

/** Revision of the record that a tombstone leaves: the largest 64-bit integer. */
export const TOMBSTONE_REVISION = '9223372036854775807'

export type StoredRecord = {
  /** Byte offset in the server's log: grows with the sizes of the records, and is never dense. */
  readonly position: number
  readonly stream: string
  readonly revision: string
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
  /** 100 ns since 1970. */
  readonly created: string
}

export type Proposal = Pick<StoredRecord, 'id' | 'type' | 'contentType' | 'data' | 'metadata'>
export type Expectation = 'any' | 'stream_exists' | 'no_stream' | number

export type Outcome =
  | { readonly kind: 'written'; readonly revision: number; readonly position: number }
  /** `current` is -1 when the stream does not exist. */
  | { readonly kind: 'wrong'; readonly current: number }
  | { readonly kind: 'deleted' }

export type Found =
  | { readonly kind: 'found'; readonly records: readonly StoredRecord[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'deleted' }

type Stream = { records: StoredRecord[]; readableFrom: number; isTombstoned: boolean }

export type Records = {
  readonly log: readonly StoredRecord[]
  append(stream: string, expected: Expectation, proposals: readonly Proposal[]): Outcome
  /** Soft: a later append goes on from the old revision. */
  remove(stream: string, expected: Expectation): Outcome
  tombstone(stream: string, expected: Expectation): Outcome
  read(stream: string, from: number | 'end', backwards: boolean, count: number): Found
  /** Takes the first such record out of the log, as a scavenge does, or a forger. */
  lose(isLost: (record: StoredRecord) => boolean): void
  /** Calls the listener after every append until it is cancelled. */
  listen(listener: () => void): () => void
}

/** Bytes of a record beside what is in it. */
const RECORD_OVERHEAD = 97
/** After so many appends the server notes its own statistics in between. */
const STATISTICS_EVERY = 7
const STATISTICS_STREAM = '$stats-127.0.0.1:2113'

export function createRecords(): Records {
  const log: StoredRecord[] = []
  const streams = new Map<string, Stream>()
  const listeners = new Set<() => void>()
  let end = 0
  let appends = 0

  function write(name: string, revision: string, { id, type, contentType, data, metadata }: Proposal): StoredRecord {
    const created = String(BigInt(Date.now()) * 10_000n)
    const record = { position: end, stream: name, revision, id, type, contentType, data, metadata, created }
    end += RECORD_OVERHEAD + Buffer.byteLength(name) + data.length + metadata.length
    log.push(record)
    return record
  }

  function streamOf(name: string): Stream {
    const known = streams.get(name)
    if (known) return known
    const created = { records: [], readableFrom: 0, isTombstoned: false }
    streams.set(name, created)
    return created
  }

  function push(name: string, proposal: Proposal): StoredRecord {
    const stream = streamOf(name)
    const record = write(name, String(stream.records.length), proposal)
    stream.records.push(record)
    return record
  }

  function grown(): void {
    for (const listener of listeners) listener()
  }

  function append(name: string, expected: Expectation, proposals: readonly Proposal[]): Outcome {
    const stream = streams.get(name)
    const verdict = judge(stream, expected, proposals)
    if (verdict) return verdict
    // An append of nothing moves the log all the same.
    if (proposals.length === 0) {
      end += RECORD_OVERHEAD
      return { kind: 'written', revision: (stream?.records.length ?? 0) - 1, position: end }
    }
    const written = proposals.map(proposal => push(name, proposal))
    if (++appends % STATISTICS_EVERY === 0) push(STATISTICS_STREAM, system('$statsCollected', { appends }))
    grown()
    return { kind: 'written', revision: streamOf(name).records.length - 1, position: written.at(-1)?.position ?? end }
  }

  function tombstone(name: string, expected: Expectation): Outcome {
    const stream = streams.get(name)
    const verdict = judge(stream, expected, [])
    if (verdict) return verdict
    const { position } = write(name, TOMBSTONE_REVISION, system('$streamDeleted', {}))
    streamOf(name).isTombstoned = true
    grown()
    return { kind: 'written', revision: -1, position }
  }

  function remove(name: string, expected: Expectation): Outcome {
    const stream = streams.get(name)
    const verdict = judge(stream, expected, [])
    if (verdict) return verdict
    const { position } = push(`$$${name}`, system('$metadata', { $tb: Number(TOMBSTONE_REVISION) }))
    const removed = streamOf(name)
    removed.readableFrom = removed.records.length
    grown()
    return { kind: 'written', revision: -1, position }
  }

  function read(name: string, from: number | 'end', backwards: boolean, count: number): Found {
    const stream = streams.get(name)
    if (stream?.isTombstoned) return { kind: 'deleted' }
    if (!stream || stream.records.length <= stream.readableFrom) return { kind: 'missing' }
    const { records, readableFrom } = stream
    if (!backwards) {
      const start = from === 'end' ? records.length : Math.max(from, readableFrom)
      return { kind: 'found', records: records.slice(start, start + count) }
    }
    const last = from === 'end' ? records.length - 1 : Math.min(from, records.length - 1)
    const first = Math.max(readableFrom, last - count + 1)
    return { kind: 'found', records: records.slice(first, last + 1).toReversed() }
  }

  for (const type of ['$UserCreated', '$metadata', '$ProjectionsInitialized']) push('$users', system(type, {}))
  return {
    log,
    append,
    remove,
    tombstone,
    read,
    lose(isLost) {
      const index = log.findIndex(isLost)
      if (index < 0) throw new Error('there is no such record')
      log.splice(index, 1)
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
  }
}

let systemEvents = 0

function system(type: string, data: object): Proposal {
  const id = `00000000-0000-4000-8000-${String(++systemEvents).padStart(12, '0')}`
  const bytes = new TextEncoder().encode(JSON.stringify(data))
  return { id, type, contentType: 'application/json', data: bytes, metadata: new Uint8Array() }
}

/** What the server answers without writing; null when it writes. */
function judge(stream: Stream | undefined, expected: Expectation, proposals: readonly Proposal[]): Outcome | null {
  if (stream?.isTombstoned) return { kind: 'deleted' }
  const records = stream?.records ?? []
  const current = records.length - 1
  const exists = stream !== undefined && records.length > stream.readableFrom
  const wrong: Outcome = { kind: 'wrong', current: exists ? current : -1 }
  if (expected === 'any')
    return proposals.length === 0 ? null : repeatOf(records, firstPlace(records, proposals), proposals)
  if (expected === 'stream_exists') return exists ? null : wrong
  if (expected === 'no_stream' && !exists && repeatOf(records, 0, proposals) === null) return null
  const after = expected === 'no_stream' ? -1 : expected
  if (after === current) return null
  if (after > current || proposals.length === 0) return wrong
  return repeatOf(records, after + 1, proposals) ?? wrong
}

function firstPlace(records: readonly StoredRecord[], proposals: readonly Proposal[]): number {
  return records.findLastIndex(({ id }) => id === proposals[0]?.id)
}

/** The server knows an append again by the ids at their places, and looks at nothing else of the events. */
function repeatOf(records: readonly StoredRecord[], place: number, proposals: readonly Proposal[]): Outcome | null {
  if (place < 0 || proposals.length === 0) return null
  const known = proposals.filter(({ id }, index) => records[place + index]?.id === id).length
  if (known === 0) return null
  const last = records[place + proposals.length - 1]
  if (known < proposals.length || !last) return { kind: 'wrong', current: records.length - 1 }
  return { kind: 'written', revision: place + proposals.length - 1, position: last.position }
}
