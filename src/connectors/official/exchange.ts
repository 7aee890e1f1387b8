import type { IncomingHttpHeaders } from 'node:http'
import { Pool } from 'undici'

/** How one HTTP exchange ended, told by what it proves about the request. */
export type Exchange =
  /** A whole answer came back. `retryAfterMs` is the answer's own wish, within limits. */
  | { readonly kind: 'answered'; readonly status: number; readonly body: string; readonly retryAfterMs: number | null }
  /** No byte of the request left: it cannot have had an effect. `reason` is an error code such as `ECONNREFUSED`. */
  | { readonly kind: 'unsent'; readonly reason: string }
  /** The request left, at least in part, and no whole answer came. */
  | { readonly kind: 'lost'; readonly timedOut: boolean; readonly reason: string }

export type HttpCall = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path and query below the base URL, with a leading slash. */
  readonly path: string
  /** Names and values in turn. */
  readonly headers: string[]
  readonly body: string | null
  readonly signal: AbortSignal
}

export type HttpClient = {
  /** Never rejects. */
  call(call: HttpCall): Promise<Exchange>
  /** Lets running calls end (their timeouts bound the wait), then frees the connections. */
  close(): Promise<void>
}

/** Platforms answer with a few hundred bytes; a list page of numbers stays far below this. */
const RESPONSE_BYTES_MAX = 1024 * 1024
const RESPONSE_HEADER_BYTES_MAX = 32 * 1024
const CONNECT_TIMEOUT_MS_MAX = 10_000
/** Shorter than the idle limit of common servers, so that a request seldom meets a socket that is being closed. */
const KEEP_ALIVE_MS = 4_000
/** Calls running or waiting for a connection; more are turned away unsent. */
const CALLS_MAX = 20_000
const RETRY_AFTER_MS_MAX = 3_600_000

/** Reason of a call whose headers, hence whose credentials, hold characters that HTTP cannot carry. */
export const INVALID_HEADER = 'invalid_header'

/**
 * A client for one base URL (scheme, host, port and an optional path prefix).
 * `timeoutMs` limits connecting, waiting for the answer's head, and each pause in its body.
 * Throws a TypeError when `baseUrl` is not an http(s) URL.
 */
export function createHttpClient(options: { baseUrl: string; timeoutMs: number; connections: number }): HttpClient {
  const url = new URL(options.baseUrl)
  const prefix = url.pathname.replace(/\/+$/, '')
  const pool = new Pool(url.origin, {
    connections: options.connections,
    pipelining: 1,
    allowH2: false,
    connectTimeout: Math.min(options.timeoutMs, CONNECT_TIMEOUT_MS_MAX),
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxResponseSize: RESPONSE_BYTES_MAX,
    maxHeaderSize: RESPONSE_HEADER_BYTES_MAX
  })
  let calls = 0

  async function call(request: HttpCall): Promise<Exchange> {
    if (request.signal.aborted) return { kind: 'unsent', reason: 'aborted' }
    if (calls >= CALLS_MAX) return { kind: 'unsent', reason: 'too_many_calls' }
    // The pool takes a connection out of use for good when it is handed a header that it refuses.
    if (!request.headers.every(isHeaderText)) return { kind: 'unsent', reason: INVALID_HEADER }
    calls += 1
    try {
      return await exchange(pool, prefix, request)
    } finally {
      calls -= 1
    }
  }

  return { call, close: () => pool.close() }
}

/**
 * Runs one call through the pool's low-level door, because only there it shows whether the request was handed to a
 * socket: `onRequestStart` comes in the same turn as the write, and never for a connection that failed.
 */
function exchange(pool: Pool, prefix: string, request: HttpCall): Promise<Exchange> {
  const { promise, resolve } = withResolvers<Exchange>()
  const { signal } = request
  let abortSocket: ((reason: Error) => void) | null = null
  let settled = false
  let status = 0
  let retryAfterMs: number | null = null
  let chunks: Buffer[] | null = null
  let first: Buffer | null = null

  const settle = (outcome: Exchange) => {
    if (settled) return
    settled = true
    signal.removeEventListener('abort', onAbort)
    resolve(outcome)
  }
  const onAbort = () => {
    if (abortSocket === null) settle({ kind: 'unsent', reason: 'aborted' })
    else {
      settle({ kind: 'lost', timedOut: true, reason: 'aborted' })
      abortSocket(ABORTED)
    }
  }
  signal.addEventListener('abort', onAbort)

  const dispatchOptions = {
    path: prefix + request.path,
    method: request.method,
    headers: request.headers,
    body: request.body
  }
  pool.dispatch(dispatchOptions, {
    onRequestStart(controller) {
      // Given up while waiting for a connection: aborting here, before the write, keeps the request from leaving.
      if (settled) controller.abort(ABORTED)
      else abortSocket = reason => controller.abort(reason)
    },
    onResponseStart(_controller, statusCode, headers) {
      status = statusCode
      retryAfterMs = retryAfterOf(headers)
    },
    onResponseData(_controller, chunk) {
      if (first === null) first = chunk
      else if (chunks === null) chunks = [first, chunk]
      else chunks.push(chunk)
    },
    onResponseEnd() {
      const bytes = chunks === null ? first : Buffer.concat(chunks)
      settle({ kind: 'answered', status, body: bytes === null ? '' : bytes.toString('utf8'), retryAfterMs })
    },
    onResponseError(_controller, error) {
      const reason = codeOf(error)
      if (abortSocket === null) settle({ kind: 'unsent', reason })
      else settle({ kind: 'lost', timedOut: TIMEOUT_CODES.has(reason), reason })
    }
  })
  return promise
}

const ABORTED = new Error('aborted')
const TIMEOUT_CODES = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

function isHeaderText(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}

function codeOf(error: Error): string {
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' ? code : error.name
}

function retryAfterOf(headers: IncomingHttpHeaders): number | null {
  const value = headers['retry-after']
  if (typeof value !== 'string' || !/^\d{1,9}$/.test(value)) return null
  return Math.min(Number(value) * 1000, RETRY_AFTER_MS_MAX)
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>(settle => {
    resolve = settle
  })
  return { promise, resolve }
}
