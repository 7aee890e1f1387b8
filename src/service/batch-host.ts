/** The main thread's end of the thread of the batches. */
import { Worker } from 'node:worker_threads'
import type { Logger } from '../actors/core.ts'
import type { Sender } from '../http/batch-work.ts'
import type { Result } from '../http/ports.ts'
import type { PageDone } from '../projections/port.ts'
import {
  type BatchThreadData,
  type BatchWorkerData,
  type FromBatches,
  isFromBatches,
  type ToBatches
} from './batch-protocol.ts'
import { countSingle, newSinglesCount } from './stand-back.ts'
import { YOUNG_GENERATION_OF_BATCHES } from './young-generation.ts'

/** `written`: the views show all of the batch when they have passed it. `broken`: nobody foresaw it. */
export type Worked = { readonly result: Result<Uint8Array> | { readonly broken: string }; readonly written: number }

export type BatchHost = {
  /** Resolves when batches can be worked, rejects when they cannot. */
  readonly ready: Promise<void>
  /** The body of a batch is its own from now on. Rejects when the thread has ended. */
  work(sender: Sender, ref: string, body: Buffer): Promise<Worked>
  /** A single send has come: the thread stands back. */
  singleCame(): void
  pageDone(done: PageDone): void
  /** Resolves when nothing more is sealed for the contact there, and what was is in the log. */
  letGo(contactId: string): Promise<void>
  trouble(): string | null
  /** Lets the thread end by itself; no batch is under way. */
  stop(): Promise<void>
}

type Pending = { resolve(worked: Worked): void; reject(error: Error): void }

export function startBatchThread(data: BatchThreadData, logger: Logger): BatchHost {
  const singles = newSinglesCount()
  const thread = new Worker(new URL('./batch-thread.js', import.meta.url), {
    workerData: { ...data, singles } satisfies BatchWorkerData,
    transferList: data.log.home === 'embedded' ? [data.log.writer] : [],
    resourceLimits: YOUNG_GENERATION_OF_BATCHES
  })
  const pending = new Map<number, Pending>()
  const leaving = new Map<number, () => void>()
  let asked = 0
  let trouble: string | null = null
  const exited = new Promise<void>(resolve => thread.once('exit', () => resolve()))

  const say = (message: ToBatches, transfer: ArrayBuffer[] = []): void => thread.postMessage(message, transfer)

  function settle(id: number, how: (one: Pending) => void): void {
    const one = pending.get(id)
    pending.delete(id)
    if (one) how(one)
  }

  function gone(id: number): void {
    leaving.get(id)?.()
    leaving.delete(id)
  }

  const ready = new Promise<void>((resolve, reject) => {
    thread.on('message', (message: unknown) => {
      if (!isFromBatches(message)) return
      if (message.kind === 'batches:ready') return resolve()
      if (message.kind === 'batches:crash') {
        const { reason, stream } = message
        return logger.error({ reason, stream }, 'a command of a batch crashed; its stream is read anew')
      }
      if (message.kind === 'batches:gone') return gone(message.id)
      settle(message.id, one => one.resolve({ result: resultOf(message), written: message.written }))
    })
    thread.on('error', error => {
      trouble = `the thread of the batches has ended: ${error.message}`
      logger.error({ err: error }, 'the thread of the batches has ended')
    })
    thread.once('exit', () => {
      trouble ??= 'the thread of the batches has ended'
      const error = new Error(trouble)
      reject(error)
      for (const id of [...pending.keys()]) settle(id, one => one.reject(error))
      for (const id of [...leaving.keys()]) gone(id)
    })
  })
  ready.catch(() => undefined)

  return {
    ready,
    work: (sender, ref, body) =>
      new Promise((resolve, reject) => {
        if (trouble !== null) return reject(new Error(trouble))
        const id = asked++
        pending.set(id, { resolve, reject })
        // Small bodies share their memory with others: those are copied, and only large ones are handed over.
        const isOwn = body.buffer instanceof ArrayBuffer && body.byteLength === body.buffer.byteLength
        say({ kind: 'batches:work', id, sender, ref, body }, isOwn ? [body.buffer as ArrayBuffer] : [])
      }),
    singleCame: () => countSingle(singles),
    pageDone({ position, touched: { channel = [], contact = [], relinked = [] } }) {
      say({ kind: 'batches:page', done: { position, touched: { channel, contact, relinked } } })
    },
    letGo: contactId =>
      new Promise(resolve => {
        if (trouble !== null) return resolve()
        const id = asked++
        leaving.set(id, resolve)
        say({ kind: 'batches:let-go', id, contactId })
      }),
    trouble: () => trouble,
    async stop() {
      say({ kind: 'batches:stop' })
      await exited
    }
  }
}

type Answered = Extract<FromBatches, { readonly written: number }>

function resultOf(message: Answered): Worked['result'] {
  if (message.kind === 'batches:broken') return { broken: message.reason }
  return message.kind === 'batches:done' ? { ok: true, value: message.body } : message.refusal
}
