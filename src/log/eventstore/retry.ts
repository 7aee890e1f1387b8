import type { Clock } from '../clock.ts'
import { pause } from '../clock.ts'
import { LogUnavailable } from '../port.ts'
import { failureOf, reasonOf } from './errors.ts'

const FIRST_WAIT_MS = 20
const LONGEST_WAIT_MS = 1_000

/** How long one piece of work may go on trying. */
export type Budget = {
  /** Waits before the next try, longer each time; false when the time is used up. */
  wait(): Promise<boolean>
}

export function createBudget(clock: Clock, totalMs: number): Budget {
  const end = clock.now() + totalMs
  let delayMs = FIRST_WAIT_MS
  return {
    async wait() {
      if (clock.now() + delayMs >= end) return false
      await pause(clock, delayMs)
      delayMs = Math.min(delayMs * 2, LONGEST_WAIT_MS)
      return true
    }
  }
}

/**
 * Repeats a call that changes nothing, or that may safely be done twice. Definite failures are thrown as they are; when
 * the budget is used up, or the server refuses our credentials, LogUnavailable.
 */
export async function repeatedly<T>(budget: Budget, call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      const { kind } = failureOf(error)
      if (kind === 'refused') throw refused(error)
      if (kind !== 'unknown') throw error
      if (!(await budget.wait())) throw new LogUnavailable(`EventStoreDB does not answer: ${reasonOf(error)}`)
    }
  }
}

export const refused = (error: unknown): LogUnavailable =>
  new LogUnavailable('EventStoreDB refuses our credentials', { cause: error })
