import type { Clock } from '../clock.ts'
import { pause } from '../clock.ts'
import { LogUnavailable } from '../port.ts'
import type { Writer } from './writer.ts'

/** A reader holds its snapshot for one page only; another program that reads may take longer. */
const SCRUB_RETRY_MS = 25
const SCRUB_ATTEMPTS = 400

/**
 * Erases streams for good: resolves when their bytes are out of the tables and of the write-ahead log. Rejects with
 * LogUnavailable when a reader would not let go; the stream is erased for all readers then, and a repeat finishes it.
 */
export function createEraser(writer: Writer, clock: Clock): (stream: string) => Promise<void> {
  let erased = 0
  let scrubbed = 0
  let sweeping: Promise<void> | null = null

  async function sweep(): Promise<void> {
    for (let attempt = 1; attempt <= SCRUB_ATTEMPTS; attempt++) {
      const upTo = erased
      if (writer.scrub()) {
        scrubbed = upTo
        return
      }
      await pause(clock, SCRUB_RETRY_MS)
    }
    throw new LogUnavailable('the erased stream is still in the write-ahead log: another program keeps reading it')
  }

  return async stream => {
    writer.erase(stream)
    const mine = ++erased
    while (scrubbed < mine) {
      sweeping ??= sweep().finally(() => {
        sweeping = null
      })
      await sweeping
    }
  }
}
