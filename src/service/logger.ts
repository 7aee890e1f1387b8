/** The program's own log lines: JSON on stdout, or readable ones on a terminal. Personal data and secrets are never told to it. */
import { type DestinationStream, type Logger, pino } from 'pino'
import type { Settings } from '../config/settings.ts'

/** Characters that wait for a write, at most for so long. */
const BUFFER_LENGTH = 64 * 1024
const FLUSH_MS = 250

export function createLogger(settings: Settings): Logger {
  const options = { level: settings.logLevel, base: { node: settings.nodeId } }
  if (!process.stdout.isTTY) return pino(options, inBunches())
  return pino({ ...options, transport: { target: 'pino-pretty', options: { ignore: 'pid,node' } } })
}

/**
 * One write a line would be a tenth of what a send costs. The stream's own buffer measures all that it holds with each
 * new line, which would cost as much, so it is handed whole bunches.
 */
function inBunches(): DestinationStream {
  const stream = pino.destination({ sync: false })
  let lines = ''
  const flush = (): void => {
    if (lines === '') return
    stream.write(lines)
    lines = ''
  }
  setInterval(flush, FLUSH_MS).unref()
  process.on('exit', () => {
    flush()
    stream.flushSync()
  })
  return {
    write(line) {
      lines += line
      if (lines.length >= BUFFER_LENGTH) flush()
    }
  }
}
