/** The main thread's end of the worker: what the projections say, and whether they still can. */
import { Worker } from 'node:worker_threads'
import type { Logger } from '../actors/core.ts'
import type { PageDone } from '../projections/port.ts'
import { isWorkerMessage, type ToWorker, type WorkerData } from './worker-protocol.ts'

export type WorkerHost = {
  readonly thread: Worker
  /** The views' file is there. Rejects when it cannot be. */
  readonly ready: Promise<void>
  /** Pages folded from now on, and those that came before anybody listened. */
  onPage(listener: (done: PageDone) => void): void
  trouble(): string | null
  /** Lets the thread end by itself. */
  stop(): Promise<void>
}

/** Room of the young generation, so that what one request leaves behind dies young. */
const YOUNG_GENERATION_MB = 64

export function startWorker(data: WorkerData, logger: Logger): WorkerHost {
  const thread = new Worker(new URL('./worker.js', import.meta.url), {
    workerData: data,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB }
  })
  let ended: string | null = null
  /** Until the page that could not be folded is: it is tried again. */
  let standstill: string | null = null
  let listener: ((done: PageDone) => void) | null = null
  const early: PageDone[] = []
  const ready = new Promise<void>((resolve, reject) => {
    thread.on('message', (message: unknown) => {
      if (!isWorkerMessage(message)) return
      if (message.kind === 'views:ready') resolve()
      else if (message.kind === 'views:page') {
        standstill = null
        listener ? listener(message.done) : early.push(message.done)
      } else {
        standstill = `views stand still: ${message.reason}`
        logger.error({ reason: message.reason }, 'a projection failed; reads are stale until it is mended')
        reject(new Error(standstill))
      }
    })
    thread.on('error', error => {
      ended = `the worker thread ended: ${error.message}`
      logger.error({ err: error }, 'the worker thread ended')
      reject(error)
    })
  })
  ready.catch(() => undefined)
  return {
    thread,
    ready,
    onPage(hear) {
      listener = hear
      for (const done of early.splice(0)) hear(done)
    },
    trouble: () => ended ?? standstill,
    async stop() {
      const ended = new Promise<void>(resolve => thread.once('exit', () => resolve()))
      const request: ToWorker = { kind: 'views:stop' }
      thread.postMessage(request)
      await ended
    }
  }
}
