/** The real command line, as a child process. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MAIN = new URL('../../src/cli/main.js', import.meta.url).pathname
/** Of the machine that runs the tests, nothing but this reaches the commands. */
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'LANG']
const STARTED_WITHIN_MS = 60_000

type Scope = { teardown(run: () => unknown): unknown }
export type Environment = Readonly<Record<string, string>>
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

export type Place = {
  /** Working directory of the commands, without a `.env`. */
  readonly folder: string
  readonly dataDir: string
  /** Runs a command to its end. */
  run(...words: readonly string[]): Promise<Ended>
  /** Starts a command that stays, and waits until its stdout matches. */
  start(words: readonly string[], ready: RegExp, more?: Environment): Promise<Started>
}

export type Started = {
  /** Everything on stdout so far. */
  said(): string
  /** Resolves when stdout matches, with the match. */
  says(pattern: RegExp): Promise<RegExpMatchArray>
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<Ended>
}

/** A folder with its DATA_DIR; gone with the test, like every command that still runs in it. */
export function place(t: Scope, more: Environment = {}): Place {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerline-cli-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  const spawned = (words: readonly string[], extra: Environment): ChildProcessWithoutNullStreams => {
    const inherited = Object.fromEntries(
      INHERITED.flatMap(name => (process.env[name] ? [[name, process.env[name]]] : []))
    )
    return spawn(process.execPath, [MAIN, ...words], {
      cwd: folder,
      env: { ...inherited, DATA_DIR: dataDir, ...more, ...extra }
    })
  }
  return {
    folder,
    dataDir,
    async run(...words) {
      const child = watch(spawned(words, {}))
      child.process.stdin.end()
      return child.ended
    },
    async start(words, ready, extra = {}) {
      const child = watch(spawned(words, extra))
      const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> => {
        child.process.kill(signal)
        return child.ended
      }
      t.teardown(() => stop('SIGKILL'))
      await child.says(ready)
      return { said: child.said, says: child.says, stop }
    }
  }
}

function watch(child: ChildProcessWithoutNullStreams) {
  const said = { stdout: '', stderr: '' }
  const listeners = new Set<() => void>()
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text
      for (const listener of listeners) listener()
    })
  const ended = once(child, 'close').then(([code]): Ended => {
    for (const listener of listeners) listener()
    return { code: code as number | null, ...said }
  })
  const says = (pattern: RegExp): Promise<RegExpMatchArray> =>
    new Promise((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`no ${pattern} in time: ${told()}`)), STARTED_WITHIN_MS)
      const told = (): string => JSON.stringify(said)
      const look = (): void => {
        const match = said.stdout.match(pattern)
        if (!match && child.exitCode === null) return
        listeners.delete(look)
        clearTimeout(limit)
        if (match) resolve(match)
        else reject(new Error(`it ended without ${pattern}: ${told()}`))
      }
      listeners.add(look)
      look()
    })
  return { process: child, ended, says, said: () => said.stdout }
}
