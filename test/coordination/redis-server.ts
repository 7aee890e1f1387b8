/** A Redis of the test's own: a real process on a free port, with a folder of its own, that can die and come back. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, connect as openSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'

export type RedisServer = {
  readonly port: number
  readonly url: string
  /** As a power cut would: nothing is saved, and it keeps nothing on disk. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Does not answer, but keeps its connections. */
  freeze(): void
  thaw(): void
}

/** Why tests with Redis cannot run here; false when they can. For tap's `skip`. */
export const noRedis: string | false =
  spawnSync('redis-server', ['--version']).status === 0
    ? false
    : 'redis-server is not installed: coordination through Redis is not tested'

export async function startRedis(t: { teardown(run: () => unknown): unknown }): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerline-redis-'))
  const port = await freePort()
  let child: ChildProcess | null = null

  async function start(): Promise<void> {
    const settings = [
      '--bind',
      '127.0.0.1',
      '--port',
      String(port),
      '--dir',
      folder,
      '--save',
      '',
      '--appendonly',
      'no'
    ]
    child = spawn('redis-server', settings, { stdio: 'ignore' })
    await eventually('redis-server listens', () => listens(port))
  }

  async function kill(): Promise<void> {
    const dying = child
    child = null
    if (dying === null) return
    const gone = new Promise(resolve => dying.once('exit', resolve))
    dying.kill('SIGKILL')
    await gone
  }

  t.teardown(async () => {
    await kill()
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    kill,
    start,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT')
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

function listens(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = openSocket(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
