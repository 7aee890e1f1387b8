import { Agent } from 'undici'
import { guardedConnector } from './connector.ts'
import { type PostAnswer, runExchange } from './exchange.ts'
import type { Guard } from './guard.ts'
import { createLanes } from './lanes.ts'

export type { PostAnswer } from './exchange.ts'
export type { PostError } from './failure.ts'

export type WebhookPost = {
  readonly url: string
  readonly body: Buffer
  /** Added to the request; those that frame the message itself (`Host`, `Content-Length`, …) are left out. */
  readonly headers: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Posts of one lane share one limit: a destination id, where several stand on one origin. Default: the origin. */
  readonly lane?: string
}

export type WebhookPoster = {
  /** One attempt, never a second one and never a redirect. Never rejects. */
  post(request: WebhookPost): Promise<PostAnswer>
  /** Closes all connections; what is still under way fails. */
  close(): Promise<void>
}

export type WebhookPosterOptions = {
  readonly guard: Guard
  /** `WEBHOOK_TIMEOUT_SECONDS`: from connect to the end of the response headers. Waiting for a place is not counted. */
  readonly timeoutMs: number
  /** `WEBHOOK_SOURCE_ADDRESS`. */
  readonly sourceAddress?: string
  readonly userAgent: string
  /** Posts in flight, hence connections, of one lane. */
  readonly maxConnectionsPerOrigin: number
  readonly now?: () => number
}

/** Posts of one lane that may wait for a place; the next one fails at once. */
const MAX_WAITING = 10_000
const IDLE_CONNECTION_MS = 4_000
const IDLE_CONNECTION_MAX_MS = 30_000
const MAX_RESPONSE_HEADER_BYTES = 16 * 1024

/** Headers that a tenant's custom ones must not touch: they say how the message is framed and where it goes. */
const framingHeaders = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'user-agent'
])

const requestHeaders = (given: Readonly<Record<string, string>>, userAgent: string): Record<string, string> => {
  const headers: Record<string, string> = { 'user-agent': userAgent, 'content-type': 'application/json' }
  for (const [name, value] of Object.entries(given)) {
    const lowered = name.toLowerCase()
    if (!framingHeaders.has(lowered)) headers[lowered] = value
  }
  return headers
}

/**
 * Sends webhook deliveries over kept-alive connections. The number of connections to an origin is not limited as such;
 * each lane has its own limit, so that a receiver that hangs never takes a connection from another one.
 */
export const createWebhookPoster = (options: WebhookPosterOptions): WebhookPoster => {
  const { guard, timeoutMs, sourceAddress, userAgent, now = Date.now } = options
  const agent = new Agent({
    connect: guardedConnector({ guard, timeoutMs, ...(sourceAddress === undefined ? {} : { sourceAddress }) }),
    connections: null,
    pipelining: 1,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MAX_MS,
    maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
    // The exchange has its own two timers.
    headersTimeout: 0,
    bodyTimeout: 0
  })
  const lanes = createLanes({ places: options.maxConnectionsPerOrigin, maxWaiting: MAX_WAITING })

  return {
    post: ({ url: target, body, headers, signal, lane }) => {
      if (!guard.checkUrl(target).ok) return Promise.resolve({ kind: 'failed', error: 'blocked', durationMs: 0 })
      const url = new URL(target)
      const exchange = {
        dispatcher: agent,
        url,
        body,
        headers: requestHeaders(headers, userAgent),
        timeoutMs,
        signal,
        now
      }
      return new Promise(resolve => {
        const isTaken = lanes.enter(lane ?? url.origin, leave =>
          runExchange(exchange, answer => {
            resolve(answer)
            // The pool takes its connection back in an immediate that it sets after this call: a post that started
            // before then would open another one. Hence behind it, by way of a microtask.
            queueMicrotask(() => setImmediate(leave))
          })
        )
        if (!isTaken) resolve({ kind: 'failed', error: 'other', durationMs: 0 })
      })
    },
    close: () => agent.destroy()
  }
}
