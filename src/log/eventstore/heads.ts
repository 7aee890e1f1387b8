import { LRUCache } from 'lru-cache'
import { NO_HASH } from '../hash-chain.ts'
import type { Expected, NewEvent } from '../port.ts'
import { NO_STREAM } from '../port.ts'
import type { Connection, StreamRead } from './connection.ts'
import { failureOf } from './errors.ts'
import type { Budget } from './retry.ts'
import { repeatedly } from './retry.ts'
import type { StoredEvent } from './wire-event.ts'
import { decodeEvent } from './wire-event.ts'

/** Where a stream ends, as far as it is known: the next event is chained to it. */
export type Head = { readonly revision: number; readonly hash: string }

/** Streams whose ends stay in memory, about 250 bytes each. */
const MAX_HOT_STREAMS = 50_000
const NOTHING: Head = { revision: NO_STREAM, hash: NO_HASH }

/** The ends of streams: remembered from our own appends, read from the server when they are not certain. */
export type Heads = {
  /** The end that an append expects, if that is where the stream ends; else where it does end. Null: erased. */
  at(stream: string, expected: Expected, budget: Budget): Promise<Head | null>
  /** What the server has as the stream's newest event. Null: erased. */
  newest(stream: string, budget: Budget): Promise<Head | null>
  /** Events from a revision on, at most `limit`. Null: erased. */
  standing(stream: string, from: number, limit: number, budget: Budget): Promise<readonly StoredEvent[] | null>
  keep(stream: string, head: Head): void
  forget(stream: string): void
}

export function createHeads(connection: Connection, prefix: string): Heads {
  const hot = new LRUCache<string, Head>({ max: MAX_HOT_STREAMS })

  function keep(stream: string, { revision, hash }: Head): void {
    hot.set(stream, { revision, hash })
  }

  async function read(stream: string, range: StreamRead, budget: Budget): Promise<readonly StoredEvent[] | null> {
    try {
      const found = await repeatedly(budget, () => connection.readStream(stream, range))
      return found.map(({ event }) => ours(stream, event && decodeEvent(event, prefix)))
    } catch (error) {
      const { kind } = failureOf(error)
      if (kind === 'missing') return []
      if (kind === 'deleted') return null
      throw error
    }
  }

  async function newest(stream: string, budget: Budget): Promise<Head | null> {
    const found = await read(stream, { from: 'end', backwards: true, limit: 1 }, budget)
    if (found === null) return null
    const head = found[0] ?? NOTHING
    keep(stream, head)
    return head
  }

  return {
    async at(stream, expected, budget) {
      const known = hot.get(stream)
      if (known && known.revision >= expected) return known
      // Streams that are expected not to exist hardly ever do: the server will tell.
      return known === undefined && expected === NO_STREAM ? NOTHING : newest(stream, budget)
    },
    newest,
    standing: (stream, from, limit, budget) => read(stream, { from, backwards: false, limit }, budget),
    keep,
    forget: stream => void hot.delete(stream)
  }
}

function ours(stream: string, event: StoredEvent | null | undefined): StoredEvent {
  if (event) return event
  throw new Error(`stream ${stream} holds an event that this log did not write`)
}

/** Whether these very events, by id, stand at the place where an append wanted them. */
export const hasIds = (standing: readonly StoredEvent[], events: readonly NewEvent[]): boolean =>
  standing.length >= events.length && events.every(({ id }, index) => standing[index]?.event.id === id)
