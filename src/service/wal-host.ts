/** The main thread's end of the thread that copies write-ahead logs. Without it SQLite copies in its commits, which then take longer. */
import { Worker } from 'node:worker_threads'
import type { Logger } from '../actors/core.ts'

export type WalThreadData = {
  /** All are there, in WAL mode. */
  readonly files: readonly string[]
}
/** It is tried again. */
export type WalProblem = { readonly problem: string }

export type WalHost = {
  /** To be awaited before the files' writers close. */
  stop(): Promise<void>
}

export function startWalThread(data: WalThreadData, logger: Logger): WalHost {
  const thread = new Worker(new URL('./wal-thread.js', import.meta.url), { workerData: data })
  const ended = new Promise<void>(resolve => void thread.once('exit', () => resolve()))
  thread.on('message', ({ problem }: WalProblem) =>
    logger.warn({ reason: problem }, 'a write-ahead log was not copied and is tried again')
  )
  thread.on('error', error => logger.error({ err: error }, 'the thread of the write-ahead logs has ended'))
  return {
    async stop() {
      thread.postMessage('stop')
      await ended
    }
  }
}
