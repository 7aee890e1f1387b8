#!/usr/bin/env -S node --max-semi-space-size=64 --v8-pool-size=1
import { CommanderError } from 'commander'
import { EXIT } from './exit.ts'
import { createProgram } from './program.ts'

/** Commander's own errors are questions asked wrongly; anything else that is thrown is told in one line. */
function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage
    return
  }
  process.stderr.write(`ledgerline: ${error instanceof Error ? error.message : String(error)}\n`)
  if (process.env.LOG_LEVEL === 'debug' && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  process.exitCode = EXIT.failed
}

// A reader that goes away early (`| head`) has what it wanted.
process.stdout.on('error', error => process.exit('code' in error && error.code === 'EPIPE' ? EXIT.ok : EXIT.failed))

await createProgram().parseAsync().catch(fail)
