import type { Clock } from '../clock.ts'
import type { AppendOptions, EventLog, Expected, Follower, NewEvent, ReadOptions, RecordedEvent } from '../port.ts'
import type { Signal } from './follower.ts'
import { createFollower } from './follower.ts'
import type { Written } from './protocol.ts'
import type { Reader } from './reader.ts'

type Began = Extract<Written, { kind: 'appended' }>

export type EventLogParts = {
  readonly reader: Reader
  readonly grown: Signal
  readonly clock: Clock
  readonly append: (...given: Parameters<EventLog['append']>) => Promise<Written>
  readonly settled: () => Promise<void>
  readonly erase: (stream: string) => Promise<void>
  /** Ends writing and reading, after the followers have stopped. */
  readonly close: () => Promise<void>
  readonly onProblem: (error: unknown) => void
}

/** The port over a reader of this thread and a writer that may live elsewhere. */
export function createEventLog(parts: EventLogParts): EventLog {
  const { reader, grown, clock, onProblem } = parts
  const followers = new Set<Follower>()
  let closing: Promise<void> | null = null

  function rememberFirst(stream: string, [event]: readonly NewEvent[], { position, first }: Began): void {
    if (!event || !first) return
    const { id, type, body, meta } = event
    reader.remember({ position, stream, streamNo: first.streamNo, revision: 0, id, type, body, meta, hash: first.hash })
  }

  async function appendSingle(
    stream: string,
    expected: Expected,
    events: readonly NewEvent[],
    options?: AppendOptions
  ): Promise<Written> {
    const written = await parts.append(stream, expected, events, options)
    if (written.kind === 'appended' && written.first) rememberFirst(stream, events, written)
    return written
  }

  async function shut(): Promise<void> {
    await Promise.all([...followers].map(follower => follower.close()))
    await parts.close()
  }

  return {
    append: (stream, expected, events, options) =>
      options?.isBulk
        ? parts.append(stream, expected, events, options)
        : appendSingle(stream, expected, events, options),
    settled: parts.settled,
    ordered: { standing: reader.standing },
    async *read(stream: string, options?: ReadOptions): AsyncGenerator<RecordedEvent> {
      for (const page of reader.stream(stream, options)) yield* page
    },
    at: async position => reader.at(position),
    follow(after, onPage) {
      const follower = createFollower({ reader, grown, clock, after, onPage, onProblem })
      const close = () => {
        followers.delete(tracked)
        return follower.close()
      }
      const tracked = { close }
      followers.add(tracked)
      return tracked
    },
    async erase(stream) {
      await parts.erase(stream)
      reader.forget(stream)
    },
    head: async () => reader.head(),
    numberOf: stream => reader.numberOf(stream),
    close: () => {
      closing ??= shut()
      return closing
    }
  }
}
