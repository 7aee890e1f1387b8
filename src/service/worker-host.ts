/** The main thread's end of the worker: what the projections say, and whether they still can. */
import { Worker } from 'node:worker_threads'
import type { Logger } from '../actors/core.ts'
import type { PageDone } from '../projections/port.ts'
import { isWorkerMessage, type ToWorker, type WorkerData } from './worker-protocol.ts'
import { YOUNG_GENERATION } from './young-generation.ts'

export type WorkerHost = {
  readonly thread: Worker
  /** The views' file is there. Rejects when it cannot be. */
  readonly ready: Promise<void>
  /** Pages folded from now on, and those that came before anybody listened. */
  onPage(listener: (done: PageDone) => void): void
  trouble(): string | null
  /** Asks for one thing of the anchors. Rejects when it could not be done, or the thread has ended. */
  anchors(request: Extract<ToWorker, { kind: 'anchors:begin' | 'anchors:end' }>): Promise<void>
  /** Lets the thread end by itself. */
  stop(): Promise<void>
}

const GONE = 'the worker thread has ended'

export type WorkerHostOptions = {
  readonly logger: Logger
  /** Each anchor that was written on EventStoreDB, as a line of JSON. */
  readonly onAnchor: (line: string) => void
}

export function startWorker(data: WorkerData, { logger, onAnchor }: WorkerHostOptions): WorkerHost {
  const thread = new Worker(new URL('./worker.js', import.meta.url), {
    workerData: data,
    transferList: data.home === 'embedded' ? [data.grown] : [],
    resourceLimits: YOUNG_GENERATION
  })
  let ended: string | null = null
  /** Until the page that could not be folded is: it is tried again. */
  let standstill: string | null = null
  let listener: ((done: PageDone) => void) | null = null
  const early: PageDone[] = []
  /** Who waits for an answer of the anchors: answers come in the order of the requests. */
  const asked: ((problem: string | null) => void)[] = []
  const ready = new Promise<void>((resolve, reject) => {
    thread.on('message', (message: unknown) => {
      if (!isWorkerMessage(message)) return
      if (message.kind === 'views:ready') resolve()
      else if (message.kind === 'views:page') {
        standstill = null
        listener ? listener(message.done) : early.push(message.done)
      } else if (message.kind === 'anchors:written') onAnchor(message.line)
      else if (message.kind === 'anchors:done') asked.shift()?.(message.problem)
      else if (message.kind === 'anchors:problem')
        logger.warn({ reason: message.reason }, 'an anchor was not written and is tried again')
      else {
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
  let isGone = false
  thread.once('exit', () => {
    isGone = true
    for (const answer of asked.splice(0)) answer(GONE)
  })
  return {
    thread,
    ready,
    onPage(hear) {
      listener = hear
      for (const done of early.splice(0)) hear(done)
    },
    trouble: () => ended ?? standstill,
    anchors: request =>
      new Promise((resolve, reject) => {
        if (isGone) return reject(new Error(GONE))
        asked.push(problem => (problem === null ? resolve() : reject(new Error(problem))))
        thread.postMessage(request)
      }),
    async stop() {
      const ended = new Promise<void>(resolve => thread.once('exit', () => resolve()))
      const request: ToWorker = { kind: 'views:stop' }
      thread.postMessage(request)
      await ended
    }
  }
}
