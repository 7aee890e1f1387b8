import { problemOf, requestOf } from '../append-request.ts'
import type { Clock } from '../clock.ts'
import { systemClock } from '../clock.ts'
import type { EventLog } from '../port.ts'
import { LogUnavailable } from '../port.ts'
import { createEraser } from './eraser.ts'
import { createEventLog } from './event-log.ts'
import { createSignal } from './follower.ts'
import { createGroupCommit } from './group-commit.ts'
import { openWriter } from './writer.ts'

export type LocalLogOptions = {
  readonly file: string
  readonly clock?: Clock
  /** Runs a task after whatever has arrived already was taken in. Default: setImmediate. */
  readonly schedule?: (task: () => void) => void
  readonly onProblem?: (error: unknown) => void
}

/** The log in this very thread: for tests, the simulation, and command lines that write. */
export function openLocalLog(options: LocalLogOptions): EventLog {
  const { file, clock = systemClock, schedule = setImmediate, onProblem = () => {} } = options
  const writer = openWriter({ file })
  const grown = createSignal()
  const commits = createGroupCommit({ writer, schedule: task => void schedule(task), onGroup: () => grown.raise() })
  const erase = createEraser(writer, clock)
  let open = true

  return createEventLog({
    reader: writer.reader,
    grown,
    clock,
    onProblem,
    async append(stream, expected, events, options) {
      if (!open) throw new LogUnavailable('the event log is closed')
      const request = requestOf(stream, expected, events, options)
      const reason = problemOf(request)
      return reason ? { kind: 'invalid', reason } : commits.append(request)
    },
    async settled() {
      commits.flush()
      // Whoever waits for one of them has heard of it.
      await new Promise(setImmediate)
    },
    erase(stream) {
      commits.flush()
      return erase(stream)
    },
    async close() {
      open = false
      commits.flush()
      writer.close()
    }
  })
}

/** A log that lives as long as the process. */
export const openMemoryLog = (options: Omit<LocalLogOptions, 'file'> = {}): EventLog =>
  openLocalLog({ ...options, file: ':memory:' })
