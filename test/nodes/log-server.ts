/** A server that speaks EventStoreDB's protocol, as a process of its own that takes faults while nodes work on it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { eventually } from '../support/eventually.ts'

type Scope = { teardown(run: () => unknown): unknown }

export type LogServer = {
  readonly url: string
  /** One command of the server (`drop`, `refuse`, `accept`, …); resolves when it is done. */
  command(line: string): Promise<void>
}

const PROGRAM = new URL('../support/eventstore/server.js', import.meta.url).pathname

export async function startLogServer(t: Scope): Promise<LogServer> {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  if (child.stdout) createInterface({ input: child.stdout }).on('line', line => void lines.push(line))
  const first = await eventually('the log server listens', () => lines[0])
  const port = first.replace('listening ', '')
  return {
    url: `esdb://127.0.0.1:${port}?tls=false`,
    async command(line) {
      const heard = lines.length
      child.stdin?.write(`${line}\n`)
      await eventually(`the log server's ${line}`, () => lines.length > heard)
    }
  }
}
