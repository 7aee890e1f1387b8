/** The worker thread of the embedded log: its writer, and the projections that follow it, with connections of their own. */
import { parentPort, workerData } from 'node:worker_threads'
import { readLogId } from '../log/sqlite/log-id.ts'
import { createLogThread } from '../log/sqlite/thread-host.ts'
import { projections } from '../projections/all.ts'
import { createRunner } from '../projections/runner.ts'
import type { WorkerData, WorkerMessage } from './worker-protocol.ts'

const { dataDir, viewsFile } = workerData as WorkerData
const port = parentPort
if (!port) throw new Error('the log thread is started by the service')

const say = (message: WorkerMessage): void => port.postMessage(message)
const thread = createLogThread({ dataDir, port })
const runner = createRunner({
  file: viewsFile,
  logId: readLogId(dataDir),
  projections,
  readPage: thread.readPage,
  onPage: done => say({ kind: 'views:page', done })
})

const advance = (): void => {
  runner.advance().catch(error => {
    // What the closing log still committed is folded at the next start.
    if (!thread.isClosing())
      say({ kind: 'views:failed', reason: error instanceof Error ? error.message : String(error) })
  })
}

thread.onCommitted(advance)
say({ kind: 'views:ready', position: runner.position() })
advance()
