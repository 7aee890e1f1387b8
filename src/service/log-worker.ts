/** The thread that writes the embedded log. While it waits for the disk, the projections go on in theirs. */
import { parentPort, workerData } from 'node:worker_threads'
import { refuseUnknown } from '../log/event-versions.ts'
import { createLogThread } from '../log/sqlite/thread-host.ts'
import type { LogWorkerData } from './worker-protocol.ts'

const { dataDir, grown, appenders } = workerData as LogWorkerData
if (!parentPort) throw new Error('the thread of the log is started by the service')
// It only speaks: it must not keep the thread alive.
grown.unref()
createLogThread({
  dataDir,
  port: parentPort,
  otherPorts: appenders,
  inspect: refuseUnknown,
  onCommitted: () => grown.postMessage(null)
})
