/** Asks a running service through its control socket. */
import { createConnection } from 'node:net'
import { createInterface } from 'node:readline'
import type { Result } from '../actors/core.ts'
import { socketAddress } from '../service/control-address.ts'
import type { ControlRequest } from '../service/control-commands.ts'
import { CommandFailed } from './exit.ts'

const ANSWER_MS = 30_000
/** Nobody listens: there is no socket, or a killed service left it. */
const NOBODY: readonly (string | undefined)[] = ['ENOENT', 'ECONNREFUSED']

/** Null when no service runs on this DATA_DIR. */
export async function askService(dataDir: string, request: ControlRequest): Promise<Result<unknown> | null> {
  const address = socketAddress(dataDir)
  if (address === null) return null
  return new Promise((resolve, reject) => {
    const socket = createConnection(address)
    const lines = createInterface({ input: socket })
    const failed = (why: string): void => {
      socket.destroy()
      reject(new CommandFailed(why))
    }
    socket.setTimeout(ANSWER_MS, () => failed('the running service does not answer'))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (NOBODY.includes(error.code)) resolve(null)
      else if (error.code === 'EACCES') failed('a service runs, but only its own user may give it commands')
      else failed(`the running service cannot be asked: ${error.message}`)
    })
    // The socket's own listener hears of it; the reader of lines must not make it a crash.
    lines.on('error', () => undefined)
    socket.once('connect', () => socket.write(`${JSON.stringify(request)}\n`))
    lines.once('line', line => {
      socket.destroy()
      resolve(JSON.parse(line) as Result<unknown>)
    })
    socket.once('close', () => failed('the running service ended the conversation without an answer'))
  })
}
