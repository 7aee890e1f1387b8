/** What the main thread and the thread of the batches say to each other. */
import type { MessagePort } from 'node:worker_threads'
import type { Sender } from '../http/batch-work.ts'
import type { Refusal } from '../http/ports.ts'
import type { PageDone } from '../projections/port.ts'
import type { MasterKeys } from './open-keyring.ts'
import type { SinglesCount } from './stand-back.ts'

/** The log as one more thread reaches it. */
export type LogDoor =
  | { readonly home: 'embedded'; readonly dataDir: string; readonly writer: MessagePort }
  | { readonly home: 'eventstore'; readonly url: string; readonly streamPrefix: string; readonly numbersFile: string }

export type BatchThreadData = {
  readonly log: LogDoor
  readonly viewsFile: string
  readonly masterKeys: MasterKeys
}

/** `singles`: counted by the main thread. */
export type BatchWorkerData = BatchThreadData & { readonly singles: SinglesCount }

export type ToBatches =
  | {
      readonly kind: 'batches:work'
      readonly id: number
      readonly sender: Sender
      readonly ref: string
      readonly body: Uint8Array
    }
  /** The views have folded a page: of what it touched, only what is remembered here is told. */
  | { readonly kind: 'batches:page'; readonly done: PageDone }
  | { readonly kind: 'batches:let-go'; readonly id: number; readonly contactId: string }
  | { readonly kind: 'batches:stop' }

/** `written`: newest position that the thread has written for anybody. */
export type FromBatches =
  | { readonly kind: 'batches:ready' }
  | { readonly kind: 'batches:done'; readonly id: number; readonly body: Uint8Array; readonly written: number }
  | { readonly kind: 'batches:refused'; readonly id: number; readonly refusal: Refusal; readonly written: number }
  /** Nobody foresaw it: the request fails, with this for the operator. */
  | { readonly kind: 'batches:broken'; readonly id: number; readonly reason: string; readonly written: number }
  /** The contact of that request is forgotten, and what was sealed for it before is in the log. */
  | { readonly kind: 'batches:gone'; readonly id: number }
  /** A command crashed; its stream is read anew. */
  | { readonly kind: 'batches:crash'; readonly reason: string; readonly stream: string }

const isOurs = (message: unknown): boolean =>
  typeof message === 'object' &&
  message !== null &&
  'kind' in message &&
  typeof message.kind === 'string' &&
  message.kind.startsWith('batches:')

export const isToBatches = (message: unknown): message is ToBatches => isOurs(message)
export const isFromBatches = (message: unknown): message is FromBatches => isOurs(message)
