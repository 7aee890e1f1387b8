/** The real service as a process of its own, as an operator starts it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

type Scope = { teardown(run: () => unknown): unknown; comment(text: string): void; passing(): boolean }

export type ServiceProcess = {
  readonly url: string
  pid(): number
  /** All that it has printed since its first start. */
  output(): string
  /** Starts it (again) on the same port and DATA_DIR; resolves when its banner stands. */
  start(): Promise<void>
  /** SIGTERM; resolves with its exit code. */
  stop(): Promise<number | null>
  /** SIGKILL, at once; resolves when it is gone. */
  kill(): Promise<void>
}

const PROGRAM = new URL('../../src/cli/main.js', import.meta.url).pathname
const START_LIMIT_MS = 60_000
/** What a failing test shows of the service's own lines. */
const SHOWN_CHARS = 4_000

export type Run = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** Runs a command of the command line to its end. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string
): Promise<Run> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd, env: environmentOf(env), stdio: 'pipe' })
  const out: string[] = []
  const err: string[] = []
  child.stdout.on('data', chunk => out.push(String(chunk)))
  child.stderr.on('data', chunk => err.push(String(chunk)))
  const [code] = await once(child, 'close')
  return { code, stdout: out.join(''), stderr: err.join('') }
}

/** The settings and nothing else: what stands in the tester's own environment must not change a test. */
const environmentOf = (env: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  ...env
})

/** A service that is not started yet; it ends with the test at the latest. `cwd` must hold no `.env`. */
export function serviceProcess(
  t: Scope,
  { url, env, cwd }: { url: string; env: Readonly<Record<string, string>>; cwd: string }
): ServiceProcess {
  let printed = ''
  let child: ChildProcess | null = null

  async function start(): Promise<void> {
    const started = spawn(process.execPath, [PROGRAM, 'serve'], { cwd, env: environmentOf(env), stdio: 'pipe' })
    child = started
    const from = printed.length
    const banner = new Promise<void>((resolve, reject) => {
      const hear = (chunk: Buffer): void => {
        printed += chunk.toString()
        if (printed.indexOf('Ledgerline listens on', from) >= 0) resolve()
      }
      started.stdout?.on('data', hear)
      started.stderr?.on('data', hear)
      started.once('close', (code, signal) =>
        reject(new Error(`it ended with ${code ?? signal}: ${printed.slice(from)}`))
      )
      const limit = setTimeout(() => reject(new Error(`no banner: ${printed.slice(from)}`)), START_LIMIT_MS)
      limit.unref()
    })
    await banner
  }

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const ending = child
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return ending?.exitCode ?? null
    const closed = once(ending, 'close')
    ending.kill(signal)
    await closed
    return ending.exitCode
  }

  t.teardown(async () => {
    await end('SIGKILL')
    if (!t.passing()) t.comment(printed.slice(-SHOWN_CHARS))
  })
  return {
    url,
    pid: () => child?.pid ?? 0,
    start,
    output: () => printed,
    stop: () => end('SIGTERM'),
    async kill() {
      await end('SIGKILL')
    }
  }
}
