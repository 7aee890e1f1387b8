import type { PageDone } from '../projections/port.ts'

export type WorkerData = { readonly dataDir: string; readonly viewsFile: string }

/** What the projections in the worker thread tell the main thread; the log's own messages begin with `log:`. */
export type WorkerMessage =
  | { readonly kind: 'views:ready'; readonly position: number }
  | { readonly kind: 'views:page'; readonly done: PageDone }
  | { readonly kind: 'views:failed'; readonly reason: string }

export const isWorkerMessage = (message: unknown): message is WorkerMessage =>
  typeof message === 'object' &&
  message !== null &&
  'kind' in message &&
  typeof message.kind === 'string' &&
  message.kind.startsWith('views:')
