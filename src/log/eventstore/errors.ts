import { convertToCommandError, ErrorType } from '@eventstore/db-client'

/** What an error of the client means to us. Whatever is not certain is `unknown`: the call may have done its work. */
export type StoreFailure =
  | { readonly kind: 'conflict' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'oversize' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'unknown'; readonly reason: string }

/** A call that did not answer in its time. */
export class CallTimeout extends Error {
  override readonly name = 'CallTimeout'
}

/** Reads the error of a call; raw gRPC errors and the client's own are treated alike. */
export function failureOf(error: unknown): StoreFailure {
  switch (typeOf(error)) {
    case ErrorType.WRONG_EXPECTED_VERSION:
      return { kind: 'conflict' }
    case ErrorType.STREAM_NOT_FOUND:
      return { kind: 'missing' }
    case ErrorType.STREAM_DELETED:
      return { kind: 'deleted' }
    case ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED:
      return { kind: 'oversize' }
    case ErrorType.ACCESS_DENIED:
      return { kind: 'refused' }
    default:
      return { kind: 'unknown', reason: reasonOf(error) }
  }
}

/** The client's name of an error, or null when it is none of the client's or of gRPC. */
export function typeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const known: unknown = convertToCommandError(error)
  return typeof known === 'object' && known !== null && 'type' in known && typeof known.type === 'string'
    ? known.type
    : null
}

/** The kind of failure in words; never the server's own text, which may hold names of streams. */
export function reasonOf(error: unknown): string {
  if (error instanceof CallTimeout) return error.message
  return typeOf(error) ?? (error instanceof Error ? error.message : 'unknown error')
}
