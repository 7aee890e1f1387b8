/** What the log's thread and those that append say to each other. Other messages on the same port are left alone. */
import type { AppendResult, Position } from '../port.ts'
import type { PackedAnswer, PackedRequest } from './packed.ts'

/** What only the writer knows of the event that began a stream; not of key streams, which nobody may remember. */
export type First = { readonly streamNo: number; readonly hash: string }
export type Written = AppendResult & { readonly first?: First }
export type Answer = Written | { readonly kind: 'unavailable'; readonly reason: string }

export type ToThread =
  | { readonly kind: 'log:hello' }
  | { readonly kind: 'log:append'; readonly requests: readonly PackedRequest[] }
  | { readonly kind: 'log:erase'; readonly id: number; readonly stream: string }
  /** Ed25519, PKCS8 DER, base64: from now on anchors are written. */
  | { readonly kind: 'log:anchor-with'; readonly privateKey: string }
  | { readonly kind: 'log:close' }

export type FromThread =
  | { readonly kind: 'log:ready' }
  | { readonly kind: 'log:failed'; readonly reason: string }
  /** Answers come in the order of the requests of their kind; `head` is the newest durable position. */
  | {
      readonly kind: 'log:committed'
      readonly single: readonly PackedAnswer[]
      readonly bulk: readonly PackedAnswer[]
      readonly head: Position
    }
  | { readonly kind: 'log:erased'; readonly id: number; readonly problem: string | null }
  | { readonly kind: 'log:anchor'; readonly line: string }
  /** Something in the thread did not work, and is tried again. */
  | { readonly kind: 'log:problem'; readonly reason: string }
  | { readonly kind: 'log:closed' }

/** A MessagePort, a Worker or `parentPort`. */
export type Port = {
  postMessage(message: unknown): void
  on(event: string, listener: (value: unknown) => void): unknown
  off(event: string, listener: (value: unknown) => void): unknown
}

export const isToThread = (message: unknown): message is ToThread => isOurs(message)
export const isFromThread = (message: unknown): message is FromThread => isOurs(message)

function isOurs(message: unknown): boolean {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return false
  return typeof message.kind === 'string' && message.kind.startsWith('log:')
}
