/** What `ledgerline serve` says when it is ready: where it listens, and how to send the first message. */
import type { Settings } from '../config/settings.ts'
import type { Running } from '../service/serve.ts'

const RECEIVER_PORT = 4000
const RECIPIENT = '5511912345678'

export function banner(settings: Settings, running: Running): string {
  const { sandbox, demo, anchorKey } = running
  const url = reachable(running.url)
  const lines = [
    '',
    `Ledgerline listens on ${running.url}   (documentation: ${url}/docs)`,
    logLine(settings, anchorKey),
    ...publicUrlWarning(settings)
  ]
  if (sandbox) {
    lines.push('SANDBOX: both platforms are simulated; no message leaves this machine.')
    lines.push(`  official ${sandbox.official}   unofficial ${sandbox.unofficial}`)
  }
  if (demo) lines.push(...demoLines(settings, url, demo))
  return `${lines.join('\n')}\n\n`
}

/** EventStoreDB keeps the log itself, without anchors; its address may hold a password and is not shown. */
const logLine = ({ storage }: Settings, anchorKey: string): string =>
  storage.eventStoreUrl === null
    ? `Event log: ${storage.dataDir}   anchors are signed with ${anchorKey}`
    : `Event log: EventStoreDB   views of this node: ${storage.dataDir}`

/** An address that means "all of this machine's" is good to listen on, not to be called. */
const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::' || host === '[::]'
const reachable = (url: string): string => url.replace(/\/\/(?:0\.0\.0\.0|\[::\]):/, '//127.0.0.1:')

function publicUrlWarning({ listen }: Settings): string[] {
  const told = listen.publicUrl === null ? listen.host : new URL(listen.publicUrl).hostname
  if (!isWildcard(told)) return []
  return [
    `WARNING: it listens on every address (HOST=${listen.host}), but PUBLIC_URL is not set: providers are told to call`,
    '  back an address that nobody can reach. Set PUBLIC_URL to the one under which they see this service.'
  ]
}

function demoLines(settings: Settings, url: string, { apiKey, number }: NonNullable<Running['demo']>): string[] {
  if (apiKey === null)
    return [
      '',
      `Tenant demo sends from ${number}. Its key was shown at the first start; for another one:`,
      '  npx ledgerline keys create --tenant demo'
    ]
  const authorization = `-H 'Authorization: Bearer ${apiKey}'`
  const json = `-H 'Content-Type: application/json'`
  const content = { kind: 'text', text: 'Hello' }
  const body = JSON.stringify({ to: RECIPIENT, idempotencyKey: 'first', content })
  return [
    '',
    `Tenant demo, API key (shown once): ${apiKey}`,
    '',
    'Send a message, then track it to read:',
    '',
    `  id=$(curl -s ${url}/v1/channels/${number}/messages ${authorization} ${json} -d '${body}' | grep -o 'msg_[a-z0-9]*'); echo $id`,
    `  curl -s ${url}/v1/messages/$id ${authorization}`,
    '',
    ...receiverLines(settings, url, `${authorization} ${json}`)
  ]
}

function receiverLines({ webhooks, listen }: Settings, url: string, headers: string): string[] {
  const receiver = JSON.stringify({ url: `http://127.0.0.1:${RECEIVER_PORT}/` })
  // The sandbox lets its own machine through while nobody else can reach it.
  const isLetThrough = !isWildcard(listen.host) || webhooks.allowedCidrs.some(range => range.startsWith('127.'))
  const how = isLetThrough ? 'make' : 'start again with OUTBOUND_ALLOWED_CIDRS=127.0.0.0/8, make'
  return [
    `See its webhooks: ${how} a destination, then start a receiver with the secret in the answer:`,
    '',
    `  curl -s ${url}/v1/webhooks/destinations ${headers} -d '${receiver}'`,
    `  npx ledgerline receive --port ${RECEIVER_PORT} --secret whsec_…`
  ]
}
