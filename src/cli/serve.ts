/** `ledgerline serve`: runs a node until it is told to stop. */
import type { Settings } from '../config/settings.ts'
import { type Running, serve } from '../service/serve.ts'
import { banner } from './banner.ts'
import { EXIT } from './exit.ts'
import { settingsOrExit } from './settings.ts'

export async function runService(): Promise<void> {
  const settings = settingsOrExit()
  // Until it serves there is nothing to finish: a signal ends the start.
  const giveUp = (): never => process.exit(EXIT.ok)
  for (const signal of SIGNALS) process.on(signal, giveUp)
  const running = await serve(settings).catch(refuse)
  for (const signal of SIGNALS) process.off(signal, giveUp)
  stopOnSignal(settings, running)
  process.stdout.write(banner(settings, running))
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** A start that fails says why in one line; the stack is for the debug level. What had begun ends with the process. */
function refuse(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`ledgerline cannot start: ${message}\n`)
  if (process.env.LOG_LEVEL === 'debug' && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  process.exit(EXIT.failed)
}

/** The first signal stops in an orderly way, a second one at once: nothing that was acknowledged is lost by it. */
function stopOnSignal(settings: Settings, running: Running): void {
  let stopping = false
  const stop = (): void => {
    if (stopping) process.exit(EXIT.failed)
    stopping = true
    const limit = setTimeout(() => {
      process.stderr.write('ledgerline did not stop in time; what is in flight is settled at the next start\n')
      process.exit(EXIT.failed)
    }, settings.cluster.shutdownMs)
    running.stop().then(
      () => {
        clearTimeout(limit)
        process.exit(EXIT.ok)
      },
      error => {
        process.stderr.write(`ledgerline stopped with an error: ${error instanceof Error ? error.message : error}\n`)
        process.exit(EXIT.failed)
      }
    )
  }
  for (const signal of SIGNALS) process.on(signal, stop)
}
