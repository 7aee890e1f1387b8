import type { PageDone } from '../projections/port.ts'

/** Which log the projections follow: the embedded one, which the thread writes itself, or EventStoreDB. */
export type WorkerData =
  | { readonly home: 'embedded'; readonly dataDir: string; readonly viewsFile: string }
  | {
      readonly home: 'eventstore'
      readonly url: string
      readonly streamPrefix: string
      readonly numbersFile: string
      readonly viewsFile: string
    }

/** What the projections in the worker thread tell the main thread; the log's own messages begin with `log:`. */
export type WorkerMessage =
  | { readonly kind: 'views:ready'; readonly position: number }
  | { readonly kind: 'views:page'; readonly done: PageDone }
  | { readonly kind: 'views:failed'; readonly reason: string }

export type ToWorker = { readonly kind: 'views:stop' }

const isViews = (message: unknown): message is { kind: string } =>
  typeof message === 'object' &&
  message !== null &&
  'kind' in message &&
  typeof message.kind === 'string' &&
  message.kind.startsWith('views:')

export const isWorkerMessage = (message: unknown): message is WorkerMessage => isViews(message)
export const isToWorker = (message: unknown): message is ToWorker => isViews(message) && message.kind === 'views:stop'
