/** The thread that copies the write-ahead logs of the embedded log and of the views into their files, so that no commit does. */
import { parentPort, workerData } from 'node:worker_threads'
import { type Copier, openCopier } from '../log/sqlite/wal.ts'
import type { WalProblem, WalThreadData } from './wal-host.ts'

/** In this time the busiest writer fills a few hundred pages. */
const LOOK_MS = 50
/** A disk that is full or fails is not asked all the time. */
const RETRY_MS = 5_000

const { files } = workerData as WalThreadData
const port = parentPort
if (!port) throw new Error('the thread of the write-ahead logs is started by the service')
const copiers: Copier[] = []
let timer = setTimeout(look, LOOK_MS)

function look(): void {
  let pause = LOOK_MS
  try {
    for (const file of files.slice(copiers.length)) copiers.push(openCopier(file))
    for (const { copy } of copiers) copy()
  } catch (error) {
    pause = RETRY_MS
    port?.postMessage({ problem: error instanceof Error ? error.message : String(error) } satisfies WalProblem)
  }
  timer = setTimeout(look, pause)
}

port.once('message', () => {
  clearTimeout(timer)
  for (const { close } of copiers) close()
})
