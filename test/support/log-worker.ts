/** A worker thread with nothing but the writers of embedded logs, one for each port that it is sent. */
import { parentPort } from 'node:worker_threads'
import { createLogThread } from '../../src/log/sqlite/thread-host.ts'

parentPort?.on('message', options => {
  try {
    createLogThread(options)
  } catch {
    // The other end of the port is told the reason.
  }
})
