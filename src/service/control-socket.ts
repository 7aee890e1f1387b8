/** The command line's way into a running service: a Unix socket in DATA_DIR, for its owner alone (mode 600). One JSON line in, one out. */
import { chmodSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Logger, Result } from '../actors/core.ts'
import type { KeyInput, Keys } from '../actors/keys.ts'

export type ControlRequest = { readonly command: 'keys create'; readonly tenant: string; readonly key: KeyInput }
export type IssuedKey = { readonly tenantId: string; readonly keyId: string; readonly apiKey: string }

const socketFile = (dataDir: string): string => join(dataDir, 'control.sock')
/** A line is a few hundred bytes; whoever sends more is not our command line. */
const LINE_MAX = 64 * 1024

export async function openControlSocket(dataDir: string, keys: Keys, logger: Logger): Promise<{ close(): void }> {
  const file = socketFile(dataDir)
  rmSync(file, { force: true })
  const server = createServer(socket => {
    let read = 0
    socket.on('data', chunk => {
      read += chunk.length
      if (read > LINE_MAX) socket.destroy()
    })
    socket.on('error', error => logger.debug({ err: error }, 'control socket'))
    createInterface({ input: socket }).once('line', line => void answer(socket, keys, line))
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(file, resolve))
  chmodSync(file, 0o600)
  return {
    close() {
      server.close()
      rmSync(file, { force: true })
    }
  }
}

async function answer(socket: Socket, keys: Keys, line: string): Promise<void> {
  const request = JSON.parse(line) as ControlRequest
  const result = await keys.issue(request.tenant, request.key)
  socket.end(`${JSON.stringify(result)}\n`)
}

/** Null when no service runs on this DATA_DIR. */
export async function askService(dataDir: string, request: ControlRequest): Promise<Result<IssuedKey> | null> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketFile(dataDir))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(null)
      else reject(error)
    })
    socket.once('connect', () => socket.write(`${JSON.stringify(request)}\n`))
    createInterface({ input: socket }).once('line', line => resolve(JSON.parse(line) as Result<IssuedKey>))
  })
}
