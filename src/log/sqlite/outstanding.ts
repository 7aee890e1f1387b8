import type { NewEvent } from '../port.ts'
import { LogUnavailable } from '../port.ts'
import { settle } from './group-commit.ts'
import { type PackedAnswer, unpackAnswer } from './packed.ts'
import type { Written } from './protocol.ts'

/** Appends that may wait for their answer; past it callers are refused, and should answer 503. */
export const MAX_OUTSTANDING_APPENDS = 20_000
/** The same in characters of event text. */
export const MAX_OUTSTANDING_TEXT = 64 * 1024 * 1024

type Waiting = {
  /** In characters of event text. */
  readonly length: number
  readonly resolve: (written: Written) => void
  readonly reject: (error: Error) => void
}
type Watching = { readonly until: number; readonly wake: () => void }

/** Appends of one kind that were handed over and are not answered yet. Answers come in the order of the appends. */
export type Outstanding = {
  isFull(): boolean
  isEmpty(): boolean
  /** Resolves when all that wait now are answered, or have failed. */
  settled(): Promise<void>
  add(events: readonly NewEvent[]): Promise<Written>
  take(answers: readonly PackedAnswer[]): void
  /** Ends all: the newest `unsent` are certainly not written, of the others nobody knows. */
  fail(unsent: number, reason: string): void
}

export function createOutstanding(): Outstanding {
  /** The oldest is the last of `older`; when that is empty, `newer` is turned round. */
  let older: Waiting[] = []
  let newer: Waiting[] = []
  let watching: readonly Watching[] = []
  let answered = 0
  let text = 0

  const size = (): number => older.length + newer.length

  function oldest(): Waiting | undefined {
    if (older.length === 0) {
      older = newer.reverse()
      newer = []
    }
    return older.pop()
  }

  function wakeWatching(): void {
    for (const { until, wake } of watching) if (until <= answered) wake()
    watching = watching.filter(({ until }) => until > answered)
  }

  return {
    isFull: () => size() >= MAX_OUTSTANDING_APPENDS || text >= MAX_OUTSTANDING_TEXT,
    isEmpty: () => size() === 0,
    settled: () =>
      size() === 0
        ? Promise.resolve()
        : new Promise(wake => (watching = [...watching, { until: answered + size(), wake }])),
    add(events) {
      const length = lengthOf(events)
      text += length
      return new Promise((resolve, reject) => newer.push({ length, resolve, reject }))
    },
    take(answers) {
      for (const answer of answers) {
        const append = oldest()
        answered++
        text -= append?.length ?? 0
        if (append) settle(unpackAnswer(answer), append.resolve, append.reject)
      }
      if (watching.length > 0) wakeWatching()
    },
    fail(unsent, reason) {
      for (let left = size(); left > 0; left--) {
        const unknown = new Error(`nobody knows whether it was appended: ${reason}`)
        oldest()?.reject(left > unsent ? unknown : new LogUnavailable(reason))
        answered++
      }
      wakeWatching()
    }
  }
}

function lengthOf(events: readonly NewEvent[]): number {
  let length = 0
  for (const { body, meta } of events) length += body.length + meta.length
  return length
}
