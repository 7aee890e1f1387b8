/** `ledgerline serve`: runs a node until it is told to stop. */
import { Command } from 'commander'
import type { Settings } from '../config/settings.ts'
import { type Running, serve } from '../service/serve.ts'
import { EXIT } from './exit.ts'
import { settingsOrExit } from './settings.ts'

export const serveCommand = (): Command =>
  new Command('serve').description('run the service').action(async () => {
    const settings = settingsOrExit()
    const running = await serve(settings).catch(refuse)
    process.stdout.write(banner(settings, running))
    stopOnSignal(settings, running)
  })

/** A start that fails says why in one line; the stack is for the debug level. */
function refuse(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`ledgerline cannot start: ${message}\n`)
  if (process.env.LOG_LEVEL === 'debug' && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  process.exit(EXIT.failed)
}

function stopOnSignal(settings: Settings, running: Running): void {
  let stopping = false
  const stop = (): void => {
    if (stopping) return
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
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

function banner(settings: Settings, { url, sandbox, demo, anchorKey }: Running): string {
  const lines = [
    '',
    `Ledgerline listens on ${url}   (documentation: ${url}/docs)`,
    `Event log: ${settings.storage.dataDir}   anchors are signed with ${anchorKey}`
  ]
  if (sandbox) {
    lines.push('SANDBOX: both platforms are simulated; nothing leaves this machine.')
    lines.push(`  official ${sandbox.official}   unofficial ${sandbox.unofficial}`)
  }
  if (demo) lines.push(...demoLines(url, demo))
  return `${lines.join('\n')}\n\n`
}

function demoLines(url: string, { apiKey, number }: NonNullable<Running['demo']>): string[] {
  if (apiKey === null)
    return [
      `Tenant demo sends from ${number}. Its key was shown at the first start; another one: ledgerline keys create --tenant demo`
    ]
  const body = JSON.stringify({
    to: '5511912345678',
    idempotencyKey: 'first',
    content: { kind: 'text', text: 'Hello' }
  })
  return [
    '',
    `Tenant demo, API key (shown once): ${apiKey}`,
    '',
    'Send a message, then track it to read:',
    '',
    `  curl -s ${url}/v1/channels/${number}/messages -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${body}' | tee /tmp/ledgerline-sent.json`,
    `  curl -s ${url}/v1/messages/$(grep -o 'msg_[a-z0-9]*' /tmp/ledgerline-sent.json) -H 'Authorization: Bearer ${apiKey}'`
  ]
}
