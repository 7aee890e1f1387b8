import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export type LogChild = {
  /** Everything that it has said so far, line by line. */
  readonly lines: string[]
  /** Resolves when it has said so many lines, or has ended. */
  said(count: number): Promise<void>
  /** Ends it with SIGKILL and waits for it. */
  kill(): Promise<void>
}

/** Starts `log-child` on a data directory; it ends with the test at the latest. */
export function startLogChild(
  t: { teardown(run: () => unknown): unknown },
  task: 'append' | 'hold',
  dataDir: string
): LogChild {
  const script = new URL('./log-child.js', import.meta.url).pathname
  const child: ChildProcess = spawn(process.execPath, [script, task, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: string[] = []
  const ended = once(child, 'close')
  let wake = () => {}
  if (child.stdout)
    createInterface(child.stdout).on('line', line => {
      lines.push(line)
      wake()
    })
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  t.teardown(kill)
  return {
    lines,
    kill,
    async said(count) {
      while (lines.length < count && child.exitCode === null)
        await Promise.race([
          ended,
          new Promise<void>(resolve => {
            wake = resolve
          })
        ])
    }
  }
}
