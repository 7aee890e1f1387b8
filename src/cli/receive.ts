/** `ledgerline receive`: a sample webhook receiver that prints what comes. */
import { type ReceivedEvent, startReceiver } from '../connectors/webhook/receiver.ts'
import { CommandFailed, EXIT } from './exit.ts'

export type ReceiveOptions = { readonly port: number; readonly host: string; readonly secret?: string }

export async function receive({ port, host, secret }: ReceiveOptions): Promise<void> {
  const receiver = await startReceiver({
    host,
    port,
    ...(secret === undefined ? {} : { secret }),
    onEvent: received => void process.stdout.write(`${shown(received, new Date())}\n`)
  }).catch(error => {
    throw new CommandFailed(`cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : error}`)
  })
  const checks = secret === undefined ? 'signatures are not checked: no --secret' : 'signatures are checked'
  process.stdout.write(`Waiting for webhooks on ${receiver.url}   (${checks})\n\n`)
  const stop = (): void => void receiver.close().then(() => process.exit(EXIT.ok))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

/** A line about the webhook, and its body. What the sender wrote goes through JSON: terminals obey control characters. */
function shown({ method, path, event, verified, problem, answer }: ReceivedEvent, at: Date): string {
  const verdict = verified === null ? 'signature not checked' : verified ? 'verified' : `NOT VERIFIED (${problem})`
  const type = typeof event?.type === 'string' ? JSON.stringify(event.type).slice(1, -1) : 'no event'
  const head = `${at.toISOString()}  ${type}  ${verdict}  ${method} ${JSON.stringify(path)}  answered ${JSON.stringify(answer)}`
  return event === null ? head : `${head}\n${JSON.stringify(event, null, 2)}\n`
}
