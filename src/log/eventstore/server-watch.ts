import type { Clock } from '../clock.ts'
import type { Connection } from './connection.ts'
import { reasonOf } from './errors.ts'

/** How often the server is asked. */
const ASK_MS = 1_000
/** So many questions in a row without an answer: one alone may have met a connection that was about to be replaced. */
const UNANSWERED_MAX = 2

/** Whether the server answers now. It is asked all the time: a node that gets no requests would never find out. */
export type ServerWatch = {
  /** Null while it does; else one line for operators. */
  trouble(): string | null
  close(): void
}

export function createServerWatch(connection: Connection, clock: Clock): ServerWatch {
  let unanswered = 0
  let reason = ''
  let open = true
  let cancel = (): void => {}

  async function ask(): Promise<void> {
    try {
      // Of the leader, like every append.
      await connection.readAll('end', true, 1)
      unanswered = 0
    } catch (error) {
      unanswered++
      reason = reasonOf(error)
    }
    plan()
  }

  function plan(): void {
    if (open) cancel = clock.after(ASK_MS, () => void ask())
  }

  plan()
  return {
    trouble: () => (unanswered < UNANSWERED_MAX ? null : `EventStoreDB does not answer (${reason})`),
    close() {
      open = false
      cancel()
    }
  }
}
