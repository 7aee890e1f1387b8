/** What a test may make the double do wrong. */
import { Metadata, status } from '@grpc/grpc-js'

export type Method = 'append' | 'tombstone' | 'delete' | 'read'

export type Fault =
  /** Takes the call, does nothing, and never answers. */
  | { readonly kind: 'hang' }
  /** Does the work and never answers. */
  | { readonly kind: 'lose' }
  /** Never answers, and does the work some time later. */
  | { readonly kind: 'late'; readonly delayMs: number }
  /** Does the work, then all connections drop. */
  | { readonly kind: 'drop' }
  /** Answers with an error, before or after the work. */
  | { readonly kind: 'fail'; readonly code: number; readonly afterwards?: boolean }
  /** Another node is the leader. */
  | { readonly kind: 'not-leader'; readonly host: string; readonly port: number }

export type Faults = {
  /** The next calls of a method meet this, one each. */
  next(method: Method, fault: Fault, times?: number): void
  take(method: Method): Fault | null
  /** Every answer comes so much later. */
  delayMs: number
  /** All calls are refused as not authenticated. */
  isDenying: boolean
}

export function createFaults(): Faults {
  const queues: Record<Method, Fault[]> = { append: [], tombstone: [], delete: [], read: [] }
  return {
    next: (method, fault, times = 1) => void queues[method].push(...Array.from({ length: times }, () => fault)),
    take: method => queues[method].shift() ?? null,
    delayMs: 0,
    isDenying: false
  }
}

export type RpcError = { readonly code: number; readonly details: string; readonly metadata: Metadata }

/** An error as the server sends it: a status, and its own name of it in the trailers. */
export function rpcError(code: number, details: string, exception: Readonly<Record<string, string>> = {}): RpcError {
  const metadata = new Metadata()
  for (const [key, value] of Object.entries(exception)) metadata.set(key, value)
  return { code, details, metadata }
}

export const streamDeleted = (stream: string): RpcError =>
  rpcError(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream
  })

export const maximumAppendSizeExceeded = (bytes: number): RpcError =>
  rpcError(status.INVALID_ARGUMENT, `Maximum Append Size of ${bytes} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(bytes)
  })

export const wrongExpectedVersion = (stream: string, expected: string, actual: number): RpcError =>
  rpcError(status.FAILED_PRECONDITION, 'Append failed due to WrongExpectedVersion.', {
    exception: 'wrong-expected-version',
    'stream-name': stream,
    'expected-version': expected,
    ...(actual < 0 ? {} : { 'actual-version': String(actual) })
  })

export const notLeader = (host: string, port: number): RpcError =>
  rpcError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port)
  })

export const unauthenticated = (): RpcError => rpcError(status.UNAUTHENTICATED, 'Unauthenticated')
