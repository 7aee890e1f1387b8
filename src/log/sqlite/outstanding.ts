import type { NewEvent } from '../port.ts'
import { LogUnavailable } from '../port.ts'
import { settle } from './group-commit.ts'
import type { Answer, Written } from './protocol.ts'

/** Appends that may wait for their answer; past it callers are refused, and should answer 503. */
export const MAX_OUTSTANDING_APPENDS = 20_000
/** The same in characters of event text. */
export const MAX_OUTSTANDING_TEXT = 64 * 1024 * 1024

type Waiting = { readonly size: number; settle(answer: Answer): void; fail(error: Error): void }

/** Appends of one kind that were handed over and are not answered yet. Answers come in the order of the appends. */
export type Outstanding = {
  isFull(): boolean
  isEmpty(): boolean
  add(events: readonly NewEvent[]): Promise<Written>
  take(answers: readonly Answer[]): void
  /** Ends all: the newest `unsent` are certainly not written, of the others nobody knows. */
  fail(unsent: number, reason: string): void
}

export function createOutstanding(): Outstanding {
  const waiting = new Map<number, Waiting>()
  let added = 0
  let answered = 0
  let text = 0

  return {
    isFull: () => waiting.size >= MAX_OUTSTANDING_APPENDS || text >= MAX_OUTSTANDING_TEXT,
    isEmpty: () => waiting.size === 0,
    add(events) {
      const size = sizeOf(events)
      text += size
      return new Promise((resolve, reject) => {
        waiting.set(added++, { size, settle: answer => settle(answer, resolve, reject), fail: reject })
      })
    },
    take(answers) {
      for (const answer of answers) {
        const append = waiting.get(answered)
        waiting.delete(answered++)
        text -= append?.size ?? 0
        append?.settle(answer)
      }
    },
    fail(unsent, reason) {
      for (const [number, append] of waiting) {
        const sent = number < added - unsent
        append.fail(sent ? new Error(`nobody knows whether it was appended: ${reason}`) : new LogUnavailable(reason))
      }
      waiting.clear()
    }
  }
}

function sizeOf(events: readonly NewEvent[]): number {
  let size = 0
  for (const { body, meta } of events) size += body.length + meta.length
  return size
}
