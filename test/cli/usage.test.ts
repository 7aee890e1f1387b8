import { CommanderError } from 'commander'
import t from 'tap'
import { createProgram } from '../../src/cli/program.ts'
import { place } from './command-line.ts'

const { run } = place(t)

/** Reads a command line in this process, which is quicker than a child: for words that must not get as far as an action. */
async function read(...words: readonly string[]): Promise<{ stdout: string; stderr: string; isWrong: boolean }> {
  const said = { stdout: '', stderr: '' }
  const program = createProgram({
    writeOut(text) {
      said.stdout += text
    },
    writeErr(text) {
      said.stderr += text
    }
  })
  const error = await program.parseAsync(words, { from: 'user' }).catch((thrown: unknown) => thrown)
  if (!(error instanceof CommanderError)) throw new Error(`${words.join(' ')} was not ended by its words`)
  return { ...said, isWrong: error.exitCode !== 0 }
}

t.test('help of every command tells what it does and shows examples', async t => {
  const commands = [
    'serve',
    'keys create',
    'keys list',
    'keys revoke',
    'log verify',
    'log export',
    'views status',
    'views rebuild',
    'receive'
  ]
  for (const command of commands) {
    const help = await read(...command.split(' '), '--help')
    t.notOk(help.isWrong)
    t.match(help.stdout, new RegExp(`Usage: ledgerline ${command}[\\s\\S]*Examples:\\n  \\$ `))
  }
})

t.test('the program itself ends with the right code', async t => {
  const help = await run('--help')
  t.equal(help.code, 0)
  t.match(help.stdout, /serve[\s\S]*keys[\s\S]*log[\s\S]*views[\s\S]*receive/)
  t.match(await run('--version'), { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ })
  t.match(await run(), { code: 2, stdout: '', stderr: /Usage: ledgerline/ })
  t.match(await run('dance'), { code: 2, stdout: '', stderr: /unknown command 'dance'/ })
  t.match(await run('log', 'export', '--format', 'xml'), { code: 2, stdout: '', stderr: /ndjson, csv/ })
})

const wrong: readonly [string, readonly string[], RegExp][] = [
  ['half a command', ['keys'], /Usage: ledgerline keys/],
  ['an unknown command', ['dance'], /unknown command 'dance'/],
  ['an unknown option', ['views', 'status', '--fast'], /unknown option '--fast'/],
  ['too many words', ['serve', 'now'], /too many arguments/],
  ['a missing option', ['keys', 'create'], /'--tenant <name>' not specified/],
  ['an empty tenant name', ['keys', 'create', '--tenant', ' '], /1 to 80 characters/],
  ['a tenant name of two lines', ['keys', 'list', '--tenant', 'a\nb'], /1 to 80 characters/],
  [
    'an unknown permission',
    ['keys', 'create', '--tenant', 'a', '--permissions', 'fly'],
    /Allowed: all, or .*keys:write/
  ],
  ['an endless key life', ['keys', 'create', '--tenant', 'a', '--expires', '4000d'], /up to 3650d/],
  ['a key life without a unit', ['keys', 'create', '--tenant', 'a', '--expires', '90'], /30m, 12h or 90d/],
  ['something that is no key id', ['keys', 'revoke', 'key_1'], /looks like key_/],
  ['an unknown format', ['log', 'export', '--format', 'xml'], /ndjson, csv/],
  ['a time that is none', ['log', 'export', '--since', '2026-02-31T25:00:00Z'], /2026-01-31T09:00:00Z/],
  ['an empty secret', ['receive', '--secret', ''], /It is empty/],
  ['a port that is none', ['receive', '--port', '70000'], /0 \(any free port\) to 65535/]
]
for (const [name, words, message] of wrong)
  t.test(`${name} is asked wrongly`, async t => {
    const { isWrong, stdout, stderr } = await read(...words)
    t.ok(isWrong)
    t.match(stderr, message)
    t.equal(stdout, '')
  })

t.test('wrong settings are asked wrongly too, all named at once, and nothing is made', async t => {
  const { run } = place(t, { PORT: 'many', LOG_LEVEL: 'loud' })
  const { code, stderr } = await run('serve')
  t.equal(code, 2)
  t.match(stderr, /^PORT holds many; allowed: .*\nLOG_LEVEL holds loud; allowed: .*\n$/)
})

t.test('without a log there is nothing to read, and no command makes one by accident', async t => {
  const commands = [
    ['keys', 'list', '--tenant', 'acme'],
    ['keys', 'revoke', 'key_01k6p3d8wq6z7m4v9x2t5c8r1n'],
    ['log', 'verify'],
    ['log', 'export'],
    ['views', 'status'],
    ['views', 'rebuild']
  ]
  for (const words of commands) {
    const { code, stdout, stderr } = await run(...words)
    t.equal(code, 1, words.join(' '))
    t.equal(stdout, '')
    t.match(stderr, /^ledgerline: .*log.*\n$/)
  }
})
