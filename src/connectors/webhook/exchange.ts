import { StringDecoder } from 'node:string_decoder'
import type { Dispatcher } from 'undici'
import { classifyFailure, type PostError } from './failure.ts'
import { retryAfterMs } from './retry-after.ts'

/** The outcome of one POST. `durationMs` runs to the end of the response headers, or to the failure. */
export type PostAnswer =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** From `Retry-After`, at most an hour; null when there is none. */
      readonly retryAfterMs: number | null
      /** The beginning of the body as text, at most 1 KB in UTF-8. */
      readonly snippet: string
      readonly durationMs: number
    }
  | { readonly kind: 'failed'; readonly error: PostError; readonly durationMs: number }

export type Exchange = {
  readonly dispatcher: Dispatcher
  readonly url: URL
  readonly headers: Record<string, string>
  readonly body: Buffer
  /** From connect to the end of the response headers. */
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** Wall clock in milliseconds: an HTTP date in `Retry-After` is measured against it. */
  readonly now: () => number
}

export const MAX_SNIPPET_BYTES = 1024
/** A body up to this size is read to its end, so that its connection can be used again; a longer one is cut off. */
const MAX_BODY_BYTES = 64 * 1024
/** A body that takes longer than this after the headers costs the connection too. */
const MAX_BODY_MS = 1_000

/** Our own stop, as opposed to something that happened to the connection. */
const stopped = new Error('the exchange was stopped')

/** Text of the first bytes. A character cut in half is dropped; bytes that are no text stay within the limit too. */
const snippetOf = (bytes: Buffer): string => {
  const text = new StringDecoder('utf8').write(bytes)
  if (Buffer.byteLength(text) <= MAX_SNIPPET_BYTES) return text
  return new StringDecoder('utf8').write(Buffer.from(text).subarray(0, MAX_SNIPPET_BYTES))
}

/** Collects the beginning of a body and counts the rest. */
const createBodyReader = () => {
  const kept: Buffer[] = []
  let seenBytes = 0
  return {
    /** False once the body is longer than anyone is willing to read. */
    add: (chunk: Buffer): boolean => {
      // A copy: the parser's buffer would otherwise stay in memory as long as the snippet.
      if (seenBytes < MAX_SNIPPET_BYTES) kept.push(Buffer.from(chunk.subarray(0, MAX_SNIPPET_BYTES - seenBytes)))
      seenBytes += chunk.length
      return seenBytes <= MAX_BODY_BYTES
    },
    snippet: (): string => (kept.length === 0 ? '' : snippetOf(Buffer.concat(kept)))
  }
}

const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value

/** The life of one exchange: it ends once, whatever ends it, and its timer and listener end with it. */
const createLife = ({ timeoutMs, signal, now }: Exchange, done: (answer: PostAnswer) => void) => {
  const startedAt = performance.now()
  const body = createBodyReader()
  let answer: { status: number; retryAfterMs: number | null; durationMs: number } | null = null
  let controller: Dispatcher.DispatchController | null = null
  let isOver = false

  const end = (error: PostError): void => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
    if (answer === null) done({ kind: 'failed', error, durationMs: performance.now() - startedAt })
    else done({ kind: 'answered', ...answer, snippet: body.snippet() })
  }
  /** Ends it from our side. What was answered by then counts; a connection in this state is not used again. */
  const stop = (error: PostError): void => {
    end(error)
    controller?.abort(stopped)
  }
  const cancel = (): void => stop('other')
  let timer = setTimeout(stop, timeoutMs, 'timeout')
  signal?.addEventListener('abort', cancel)

  return {
    end,
    connected: (started: Dispatcher.DispatchController): void => {
      controller = started
      // Stopped while it was still connecting: nothing may be sent any more.
      if (isOver) started.abort(stopped)
    },
    answered: (status: number, retryAfter: string | undefined): void => {
      if (isOver) return
      answer = { status, retryAfterMs: retryAfterMs(retryAfter, now()), durationMs: performance.now() - startedAt }
      clearTimeout(timer)
      timer = setTimeout(stop, MAX_BODY_MS, 'timeout')
    },
    received: (chunk: Buffer): void => {
      if (!isOver && !body.add(chunk)) stop('other')
    }
  }
}

/** One POST on a dispatcher. `done` is called exactly once, when the exchange no longer needs its connection. */
export const runExchange = (exchange: Exchange, done: (answer: PostAnswer) => void): void => {
  const { dispatcher, url, headers, body, signal } = exchange
  if (signal?.aborted) {
    done({ kind: 'failed', error: 'other', durationMs: 0 })
    return
  }
  const life = createLife(exchange, done)
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: controller => life.connected(controller),
    onResponseStart: (_, status, responseHeaders) => {
      // Informational answers come before the real one.
      if (status >= 200) life.answered(status, headerText(responseHeaders['retry-after']))
    },
    onResponseData: (_, chunk) => life.received(chunk),
    onResponseEnd: () => life.end('other'),
    onResponseError: (_, error) => life.end(classifyFailure(error))
  }
  const path = `${url.pathname}${url.search}`
  try {
    dispatcher.dispatch({ origin: url.origin, path, method: 'POST', headers, body }, handler)
  } catch (error) {
    life.end(classifyFailure(error))
  }
}
