/** The real service in a process of its own, with a DATA_DIR of its own, as the bench starts and asks it. */
import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { StartedSimulator } from './simulator.ts'
import { ACCESS_TOKEN, APP_SECRET, numberId, VERIFY_TOKEN, WABA } from './simulator-world.ts'

export type BenchedService = {
  readonly url: string
  readonly apiKey: string
  readonly pid: number
  /** Makes the first `count` numbers of the simulator to channels; answers the paths to send on. */
  createChannels(count: number): Promise<readonly string[]>
  call<Answer>(method: string, path: string, body?: unknown): Promise<Answer>
  /** Resolves when the views have seen the whole log. */
  quiet(): Promise<void>
  /** Position that the views have reached. */
  position(): Promise<number>
  /** Seconds of processor time that the process has used. */
  cpuSeconds(): number
  stop(): Promise<void>
}

export type ServiceOptions = {
  readonly dataDir: string
  readonly simulator: StartedSimulator
  readonly variables?: Readonly<Record<string, string>>
  /** Folder that CPU profiles are written to when the service stops: one of each thread. */
  readonly profileDir?: string | null
  /** What the profiles are called. */
  readonly name: string
}

const MAIN = fileURLToPath(new URL('../src/cli/main.js', import.meta.url))
const TENANT = 'bench'
/** As `npm start` and the installed command have them. */
const V8 = ['--max-semi-space-size=64', '--v8-pool-size=1']
const START_MS = 30_000
const POLL_MS = 20
/** USER_HZ of Linux. */
const TICKS_PER_SECOND = 100
/** The views stand still for so long when they have caught up. */
const QUIET_MS = 300

export async function startService(options: ServiceOptions): Promise<BenchedService> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const { profileDir } = options
  const profiled = profileDir ? ['--cpu-prof', `--cpu-prof-dir=${join(profileDir, options.name)}`] : []
  const child = spawn(process.execPath, [...V8, ...profiled, MAIN, 'serve'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env.PATH, ...settings(options, port), ...options.variables }
  })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  // A run that is broken off leaves no service behind.
  process.once('exit', () => child.kill('SIGKILL'))
  if (!(await until(() => isReady(url), START_MS))) throw new Error('the service did not start')
  const apiKey = await issueKey(options.dataDir)

  async function call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as Answer
  }

  return {
    url,
    apiKey,
    pid: child.pid ?? 0,
    call,
    async createChannels(count) {
      const paths: string[] = []
      for (let index = 0; index < count; index++) {
        const credentials = { phoneNumberId: numberId(index), wabaId: WABA, accessToken: ACCESS_TOKEN }
        const body = { provider: 'official_platform', kind: 'official', credentials }
        const { id } = await call<{ id: string }>('POST', '/v1/channels', body)
        paths.push(`/v1/channels/${id}/messages`)
      }
      return paths
    },
    async quiet() {
      for (let seen = -1, position = await positionOf(url); position !== seen; position = await positionOf(url)) {
        seen = position
        await pause(QUIET_MS)
      }
    },
    position: () => positionOf(url),
    cpuSeconds: () => cpuSecondsOf(child.pid ?? 0),
    stop() {
      child.kill('SIGTERM')
      return ended
    }
  }
}

/** The service's own defaults, but for what would keep a benchmark from running. */
function settings({ dataDir, simulator }: ServiceOptions, port: number): Record<string, string> {
  return {
    DATA_DIR: dataDir,
    PORT: String(port),
    INSTANCE_API_PORT: '0',
    OPS_PORT: '0',
    SANDBOX: 'false',
    OFFICIAL_API_BASE_URL: simulator.graphUrl,
    OFFICIAL_APP_SECRET: APP_SECRET,
    OFFICIAL_VERIFY_TOKEN: VERIFY_TOKEN,
    OUTBOUND_ALLOWED_CIDRS: '127.0.0.0/8',
    RATE_LIMIT_PER_MINUTE: '0',
    // High enough to be in nobody's way; counting still costs what it costs.
    REQUEST_LIMIT_PER_MINUTE: '100000000'
  }
}

/** As an operator makes one: with the command line, beside the running service. */
async function issueKey(dataDir: string): Promise<string> {
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir }
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'keys', 'create', '--tenant', TENANT], { env })
  const key = /llk_[A-Za-z0-9_-]{43}/.exec(stdout)?.[0]
  if (key === undefined) throw new Error('the service issued no key')
  return key
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    answer => answer.ok,
    () => false
  )

async function positionOf(url: string): Promise<number> {
  const answer = await fetch(`${url}/readyz`)
  return ((await answer.json()) as { position: number }).position
}

/** User and system time of a process with all its threads; the name in the file may hold blanks, but ends at `)`. */
function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

export async function until(holds: () => Promise<boolean> | boolean, limitMs: number): Promise<boolean> {
  for (const deadline = performance.now() + limitMs; performance.now() < deadline; await pause(POLL_MS))
    if (await holds()) return true
  return false
}
