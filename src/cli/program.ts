/**
 * The command line: every command with its options and examples. What a command does stands in a file of its own, loaded
 * when the command runs, so that help and short commands are quick.
 */
import { Command, Option, type OutputConfiguration } from 'commander'
import { version } from '../service/version.ts'
import {
  instantArgument,
  keyIdArgument,
  lifetimeArgument,
  nameArgument,
  permissionsArgument,
  portArgument,
  repeatedArgument,
  secretArgument
} from './arguments.ts'
import type { CreateKeyOptions, ListKeysOptions } from './keys.ts'
import type { ExportLogOptions } from './log-export.ts'
import type { VerifyLogOptions } from './log-verify.ts'
import type { ReceiveOptions } from './receive.ts'
import type { ViewsOptions } from './views.ts'

/** `output`: where help and errors go; stdout and stderr unless told otherwise. */
export function createProgram(output: OutputConfiguration = {}): Command {
  const program = new Command('ledgerline')
    .description('Messaging service in which everything that happens is an event in an append-only, verifiable log.')
    .version(version)
    .configureOutput(output)
    .exitOverride()
    .showHelpAfterError('(--help tells what is allowed)')
  program.addHelpText(
    'after',
    '\nSettings come from the environment and from .env (docs/settings.md).\n' +
      'Exit codes: 0 done, 1 failed or found a fault, 2 asked wrongly.'
  )
  serveCommand(program)
  keysCommands(program.command('keys').description('API keys of tenants'))
  logCommands(program.command('log').description('verify and export the event log; beside a running service too'))
  viewsCommands(program.command('views').description('the views that are projected from the log'))
  receiveCommand(program)
  return program
}

const examples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExamples:\n${lines.map(line => `  $ ${line}`).join('\n')}`)

const jsonOption = (): Option => new Option('--json', 'print JSON instead of a table')

function serveCommand(program: Command): void {
  const serve = program.command('serve').description('run the service until SIGTERM or SIGINT')
  examples(
    serve,
    'ledgerline serve',
    'PORT=8080 DATA_DIR=/var/lib/ledgerline ledgerline serve',
    'OUTBOUND_ALLOWED_CIDRS=127.0.0.0/8 ledgerline serve   # webhooks to receivers on this machine'
  ).action(async () => (await import('./serve.ts')).runService())
}

function keysCommands(keys: Command): void {
  const create = keys
    .command('create')
    .description('make a key, and the tenant when the name is new; prints JSON, and the key this once')
    .requiredOption('--tenant <name>', 'name of the tenant; one tenant a name', nameArgument)
    .option('--name <name>', 'name of the key', nameArgument, 'command line')
    .option('--permissions <list>', 'all, or a comma list (default: all but keys:write)', permissionsArgument)
    .option('--expires <time>', 'life of the key: 30m, 12h, 90d (default: for ever)', lifetimeArgument)
  examples(
    create,
    'ledgerline keys create --tenant acme',
    'ledgerline keys create --tenant acme --name checkout --permissions messages:send,messages:read --expires 90d'
  ).action(async (options: CreateKeyOptions) => (await import('./keys.ts')).createKey(options))

  const list = keys
    .command('list')
    .description('live keys of a tenant, read from the log')
    .requiredOption('--tenant <name>', 'name of the tenant', nameArgument)
    .addOption(jsonOption())
  examples(list, 'ledgerline keys list --tenant acme', 'ledgerline keys list --tenant acme --json').action(
    async (options: ListKeysOptions) => (await import('./keys.ts')).listKeys(options)
  )

  const revoke = keys.command('revoke').description('end a key at once')
  revoke.argument('<key-id>', 'id of the key, as keys list shows it', keyIdArgument)
  examples(revoke, 'ledgerline keys revoke key_01k6p3d8wq6z7m4v9x2t5c8r1n').action(async (keyId: string) =>
    (await import('./keys.ts')).revokeKey(keyId)
  )
}

function logCommands(log: Command): void {
  const verify = log
    .command('verify')
    .description('prove the log intact, or name what was altered, is missing, was added or reordered')
    .option('--stream <name>', 'this stream only')
    .option('--anchors <file>', 'anchors kept elsewhere (default: ANCHOR_FILE, where it is set)')
    .option('--public-key <key>', 'key that signs anchors, as the service prints it; may be repeated', repeatedArgument)
    .option('--export <file>', 'verify an unfiltered ndjson export instead of the log itself')
    .addOption(jsonOption())
  examples(
    verify,
    'ledgerline log verify',
    'ledgerline log verify --anchors anchors.ndjson --public-key MCowBQYDK2VwAyEA…',
    'ledgerline log verify --export log.ndjson --anchors anchors.ndjson',
    'ledgerline log verify --stream message-msg_6jz3k0v9m2q8x4c7t1n5b0d9wr'
  ).action(async (options: VerifyLogOptions) => (await import('./log-verify.ts')).verifyLogCommand(options))

  const exporting = log
    .command('export')
    .description('write events to stdout; personal data stays encrypted, keys are left out')
    .option('--stream <name>', 'this stream only')
    .option('--type <type>', 'this event type only (docs/events.md)')
    .option('--since <time>', 'events recorded then or later: 2026-01-31, 2026-01-31T09:00:00Z', instantArgument)
    .addOption(new Option('--format <format>', 'form of a line').choices(['ndjson', 'csv']).default('ndjson'))
  examples(
    exporting,
    'ledgerline log export > log.ndjson',
    'ledgerline log export --type MessageFailed --since 2026-01-31 --format csv > failures.csv'
  ).action(async (options: ExportLogOptions) => (await import('./log-export.ts')).exportLog(options))
}

function viewsCommands(views: Command): void {
  const status = views.command('status').description('how far each view is').addOption(jsonOption())
  examples(status, 'ledgerline views status', 'ledgerline views status --json').action(async (options: ViewsOptions) =>
    (await import('./views.ts')).viewsStatus(options)
  )
  const rebuild = views
    .command('rebuild')
    .description('throw all views away and fill them anew from the log; the service must not run')
    .addOption(jsonOption())
  examples(rebuild, 'ledgerline views rebuild').action(async (options: ViewsOptions) =>
    (await import('./views.ts')).rebuildViews(options)
  )
}

function receiveCommand(program: Command): void {
  const receive = program
    .command('receive')
    .description('sample webhook receiver: prints each webhook as it comes, its signature checked')
    .option('--port <port>', 'port to listen on; 0: any free one', portArgument, 4000)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(
      new Option('--secret <secret>', 'secret of the destination').env('WEBHOOK_SECRET').argParser(secretArgument)
    )
  examples(
    receive,
    'ledgerline receive --secret whsec_…',
    'ledgerline receive --port 8000   # without a secret, signatures are not checked'
  ).action(async (options: ReceiveOptions) => (await import('./receive.ts')).receive(options))
}
