import type { EventStoreDBClient as Client, EventData, ResolvedEvent } from '@eventstore/db-client'
import {
  ANY,
  BACKWARDS,
  END,
  EventStoreDBClient,
  FORWARDS,
  NO_STREAM as NO_STREAM_YET,
  START,
  streamNameFilter
} from '@eventstore/db-client'
import type { Clock } from '../clock.ts'
import type { Expected, Position } from '../port.ts'
import { NO_STREAM } from '../port.ts'
import { collect, within } from './deadline.ts'
import { failureOf } from './errors.ts'
import { settingsError } from './start-error.ts'

export type ConnectionOptions = {
  readonly url: string
  readonly prefix: string
  readonly deadlineMs: number
  readonly clock: Clock
}

export type Written = { readonly position: Position; readonly revision: number }
export type Noted = { readonly metadata: Readonly<Record<string, unknown>>; readonly revision: number }
export type StreamRead = { readonly from: number | 'end'; readonly backwards: boolean; readonly limit: number }

/** The few calls that we make, each with a deadline. They reject with the client's errors; `failureOf` reads them. */
export type Connection = {
  append(stream: string, expected: Expected, events: readonly EventData[]): Promise<Written>
  readStream(stream: string, read: StreamRead): Promise<ResolvedEvent[]>
  /** Forwards from a position (inclusive), or backwards from one (exclusive) or from the end; system events too. */
  readAll(from: Position | 'start' | 'end', backwards: boolean, limit: number): Promise<ResolvedEvent[]>
  tombstone(stream: string): Promise<void>
  /** What is noted beside a stream, and at which revision; -1 when nothing is. */
  metadata(stream: string): Promise<Noted>
  setMetadata(stream: string, metadata: Noted['metadata'], expected: number): Promise<void>
  /** Our events after a position, live. Ends itself with an error only. */
  subscribe(after: Position, buffered: number): ReturnType<Client['subscribeToAll']>
  close(): Promise<void>
}

/** Throws EventStoreStartError when the connection string is wrong. Nothing is connected before the first call. */
export function connect({ url, prefix, deadlineMs, clock }: ConnectionOptions): Connection {
  const client = clientOf(url)
  // Only the leader has what was just written; after an election the client moves on to the one that is named.
  const call = { deadline: deadlineMs, requiresLeader: true }
  const filter = filterOf(prefix)

  async function finite(stream: ReturnType<Client['readAll']> | ReturnType<Client['readStream']>) {
    const events = collect<ResolvedEvent>(stream)
    return within(clock, deadlineMs, events, () => void stream.cancel())
  }

  return {
    async append(stream, expected, events) {
      const options = { ...call, expectedRevision: revisionOf(expected) }
      const work = client.appendToStream(prefix + stream, [...events], options)
      const { nextExpectedRevision, position } = await within(clock, deadlineMs, work)
      return { position: Number(position?.commit ?? 0n), revision: Number(nextExpectedRevision) }
    },
    readStream: (stream, { from, backwards, limit }) =>
      finite(
        client.readStream(prefix + stream, {
          ...call,
          fromRevision: from === 'end' ? END : BigInt(from),
          direction: backwards ? BACKWARDS : FORWARDS,
          maxCount: limit
        })
      ),
    readAll: (from, backwards, limit) =>
      finite(
        client.readAll({
          ...call,
          fromPosition: typeof from === 'number' ? exact(from) : from === 'end' ? END : START,
          direction: backwards ? BACKWARDS : FORWARDS,
          maxCount: limit
        })
      ),
    async tombstone(stream) {
      await within(clock, deadlineMs, client.tombstoneStream(prefix + stream, { ...call, expectedRevision: ANY }))
    },
    async metadata(stream) {
      // Read as the stream that it is: the client's own question answers a revision that is none.
      const read = { ...call, fromRevision: END, direction: BACKWARDS, maxCount: 1 } as const
      try {
        const [found] = await finite(client.readStream(METADATA + prefix + stream, read))
        const data = found?.event?.data
        if (typeof data !== 'object' || data instanceof Uint8Array) return NOTHING_NOTED
        return { metadata: { ...data }, revision: Number(found?.event?.revision) }
      } catch (error) {
        if (failureOf(error).kind === 'missing') return NOTHING_NOTED
        throw error
      }
    },
    async setMetadata(stream, metadata, expected) {
      const options = { ...call, expectedRevision: revisionOf(expected) }
      await within(clock, deadlineMs, client.setStreamMetadata(prefix + stream, { ...metadata }, options))
    },
    subscribe: (after, buffered) =>
      client.subscribeToAll(
        { requiresLeader: true, filter, fromPosition: after === 0 ? START : exact(after) },
        { highWaterMark: buffered }
      ),
    close: () => client.dispose()
  }
}

/** What stands before a stream's name in the name of its metadata's stream. */
const METADATA = '$$'
const NOTHING_NOTED: Noted = { metadata: {}, revision: NO_STREAM }

const revisionOf = (expected: Expected): typeof NO_STREAM_YET | bigint =>
  expected === NO_STREAM ? NO_STREAM_YET : BigInt(expected)

/** Each event is a record of its own in the server's log: both halves of its position are the same. */
const exact = (position: Position) => ({ commit: BigInt(position), prepare: BigInt(position) })

/** An empty prefix would let the server's own streams through, whose names begin with `$`. */
const filterOf = (prefix: string) =>
  prefix === '' ? streamNameFilter({ regex: '^[^$]' }) : streamNameFilter({ prefixes: [prefix] })

function clientOf(url: string): Client {
  try {
    const client = EventStoreDBClient.connectionString(url)
    // The client takes its batch path, which can hang or end the process, and probes the server's features without a
    // deadline, unless an append has credentials of its own; this question decides about both.
    Object.defineProperty(client, 'supports', { value: async () => false })
    return client
  } catch (error) {
    throw settingsError(error)
  }
}
