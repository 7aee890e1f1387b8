/**
 * The command line's way into a running service: a Unix socket in DATA_DIR, for its owner alone (mode 600). One JSON line
 * in, one out, and whatever comes in, the service goes on.
 */
import { rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { type Logger, type Result, refuse } from '../actors/core.ts'
import type { Keys } from '../actors/keys.ts'
import { openViews } from '../projections/open-views.ts'
import { socketAddress, socketFile } from './control-address.ts'
import { type ControlRequest, controlRequest, runControlCommand } from './control-commands.ts'
import { viewsFile } from './storage.ts'

/** A line is a few hundred bytes; whoever sends more is not our command line. */
const LINE_MAX = 64 * 1024
const CONNECTIONS_MAX = 32
/** A command line asks at once. */
const SILENCE_MS = 10_000

type Run = (request: ControlRequest) => Promise<Result<unknown>>

/** Rejects when the socket cannot be made; goes without one where the name of DATA_DIR is too long for any. */
export async function openControlSocket(dataDir: string, keys: Keys, logger: Logger): Promise<{ close(): void }> {
  const file = socketFile(dataDir)
  const address = socketAddress(dataDir)
  if (address === null) {
    logger.warn({ file }, 'the path is too long for a Unix socket: the command line cannot reach this service')
    return { close() {} }
  }
  const run: Run = request => withViews(dataDir, views => runControlCommand(request, keys, views))
  const open = new Set<Socket>()
  const server = createServer(socket => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    converse(socket, run, logger)
  })
  server.maxConnections = CONNECTIONS_MAX
  // Left behind by a process that was killed; the lock on DATA_DIR proves that nobody listens.
  rmSync(file, { force: true })
  await listen(server, address)
  return {
    close() {
      server.close()
      for (const socket of open) socket.destroy()
      rmSync(file, { force: true })
    }
  }
}

async function withViews<T>(dataDir: string, work: (views: ReturnType<typeof openViews>) => Promise<T>): Promise<T> {
  const views = openViews({ file: viewsFile(dataDir), messageNoOf: () => null })
  try {
    return await work(views)
  } finally {
    views.close()
  }
}

/** The file has mode 600 from its first moment; a chmod afterwards would leave a gap. */
async function listen(server: Server, address: string): Promise<void> {
  const listening = new Promise<void>((resolve, reject) => server.once('error', reject).once('listening', resolve))
  const before = process.umask(0o177)
  try {
    server.listen(address)
  } finally {
    process.umask(before)
  }
  await listening
}

function converse(socket: Socket, run: Run, logger: Logger): void {
  let size = 0
  const silence = setTimeout(() => socket.destroy(), SILENCE_MS)
  socket.once('close', () => clearTimeout(silence))
  socket.on('error', error => logger.debug({ err: error }, 'control socket'))
  socket.on('data', chunk => {
    size += chunk.length
    if (size > LINE_MAX) socket.destroy()
  })
  createInterface({ input: socket })
    // The socket's own listener has told it; without this one the reader of lines would make it a crash.
    .on('error', () => undefined)
    .once('line', line => {
      clearTimeout(silence)
      void answered(line, run, logger).then(result => socket.end(`${JSON.stringify(result)}\n`))
    })
}

async function answered(line: string, run: Run, logger: Logger): Promise<Result<unknown>> {
  const request = controlRequest(parsed(line))
  if (!request.ok) return request
  try {
    return await run(request.value)
  } catch (error) {
    logger.error({ err: error, command: request.value.command }, 'a command of the control socket crashed')
    return refuse('internal_error')
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
