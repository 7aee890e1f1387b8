import type { MessagePort } from 'node:worker_threads'
import type { PageDone } from '../projections/port.ts'

/** For the thread that writes the embedded log. */
export type LogWorkerData = {
  readonly dataDir: string
  /** Says that the log has grown to whoever has the other end. */
  readonly grown: MessagePort
  /** The log's ends of the ports of other threads that append. */
  readonly appenders: readonly MessagePort[]
}

/** Which log the projections follow: the embedded one, or EventStoreDB. */
export type WorkerData =
  | { readonly home: 'embedded'; readonly dataDir: string; readonly viewsFile: string; readonly grown: MessagePort }
  | {
      readonly home: 'eventstore'
      readonly url: string
      readonly streamPrefix: string
      readonly numbersFile: string
      readonly viewsFile: string
    }

/**
 * What the projections, and on EventStoreDB the anchors, tell the main thread from the worker thread; the embedded log's own
 * messages begin with `log:`.
 */
export type WorkerMessage =
  | { readonly kind: 'views:ready'; readonly position: number }
  | { readonly kind: 'views:page'; readonly done: PageDone }
  | { readonly kind: 'views:failed'; readonly reason: string }
  /** An anchor that this node wrote, as a line of JSON. */
  | { readonly kind: 'anchors:written'; readonly line: string }
  | { readonly kind: 'anchors:problem'; readonly reason: string }
  /** `anchors:begin` or `anchors:end` is done; a reason when it could not be. */
  | { readonly kind: 'anchors:done'; readonly problem: string | null }

export type ToWorker =
  | { readonly kind: 'views:stop' }
  /** Ed25519, PKCS8 DER, base64. */
  | { readonly kind: 'anchors:begin'; readonly privateKey: string }
  | { readonly kind: 'anchors:end' }

const isOurs = (message: unknown): message is { kind: string } =>
  typeof message === 'object' &&
  message !== null &&
  'kind' in message &&
  typeof message.kind === 'string' &&
  (message.kind.startsWith('views:') || message.kind.startsWith('anchors:'))

export const isWorkerMessage = (message: unknown): message is WorkerMessage => isOurs(message)
export const isToWorker = (message: unknown): message is ToWorker => isOurs(message)
