/** Which threads come first where processors are scarce: those that somebody waits for. */
import { getPriority, setPriority } from 'node:os'

/** Thousands of messages in one request: a third of the share of a thread that gives no way, when both want all of it. */
export const BEHIND_REQUESTS = 5

const NICENESS_MAX = 19

/** The calling thread gives way to others by so many steps of niceness. */
export function giveWay(steps: number): void {
  // Linux keeps a niceness for each thread; elsewhere the whole process would give way.
  if (process.platform !== 'linux') return
  try {
    setPriority(0, Math.min(getPriority(0) + steps, NICENESS_MAX))
  } catch {
    // Where it is forbidden, all threads are equal.
  }
}
