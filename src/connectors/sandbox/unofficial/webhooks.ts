import { createHmac } from 'node:crypto'
import { Agent, request } from 'undici'
import { asArray, asFields, asNumber, asString, type Fields } from './fields.ts'
import { ulid } from './ids.ts'
import type { Timers } from './timers.ts'

const CONNECTIONS_PER_RECEIVER = 64
const PENDING_MAX = 100_000
const RECEIVER_TIMEOUT_MS = 30_000
const RETRY_JITTER = 0.2

export type Target = {
  url: string
  events: Set<string>
  hmacKey: string | null
  /** `attempts` counts the tries after the first one. */
  retries: { policy: string; delaySeconds: number; attempts: number }
  headers: Record<string, string>
}
/** Statuses of the first and of the last try; 0 when no answer came. */
export type Delivery = { first: Promise<number>; done: Promise<number> }
export type WebhookCounts = {
  pending: number
  posted: number
  delivered: number
  retried: number
  givenUp: number
  dropped: number
}
export type Webhooks = {
  deliver(target: Target, body: string): Delivery
  /** Posts once, whatever it is; `hmacKey` signs it as a session would. */
  post(url: string, body: string, hmacKey: string | null, headers: Record<string, string>): Promise<number>
  counts(): WebhookCounts
  pending(): number
  /** Forgets everything under way: retries live in memory only. */
  reset(): void
  close(): Promise<void>
}
type Dependencies = {
  timers: Timers
  now: () => number
  scale: (ms: number) => number
  version: string
  /** Up to this long (real time, by chance) a delivery is held back, so that events overtake each other. */
  jitterMs: () => number
}

/** The subscriptions in `config.webhooks` of a session, with the platform's defaults filled in. */
export function targetsOf(config: Fields): Target[] {
  return asArray(config.webhooks)
    .map(asFields)
    .filter(webhook => asString(webhook.url) !== undefined)
    .map(webhook => {
      const retries = asFields(webhook.retries)
      return {
        url: asString(webhook.url) ?? '',
        events: new Set(asArray(webhook.events).map(String)),
        hmacKey: asString(asFields(webhook.hmac).key) ?? null,
        retries: {
          policy: asString(retries.policy) ?? 'constant',
          delaySeconds: asNumber(retries.delaySeconds) ?? 2,
          attempts: asNumber(retries.attempts) ?? 15
        },
        headers: Object.fromEntries(
          asArray(webhook.customHeaders)
            .map(asFields)
            .map(header => [String(header.name), String(header.value)])
        )
      }
    })
}

/** Lower-case hex of HMAC-SHA512 over the raw body (section 6.1). */
export const signatureOf = (body: string, key: string) => createHmac('sha512', key).update(body).digest('hex')

/** Milliseconds (of the sheet, unscaled) before the given retry, counted from 1. */
export function retryDelayMs(retries: Target['retries'], retry: number, chance: number): number {
  const step = retries.delaySeconds * 1000
  if (retries.policy === 'linear') return step * retry
  if (retries.policy === 'exponential') return step * 2 ** (retry - 1) * (1 + RETRY_JITTER * (2 * chance - 1))
  return step
}

const isAcknowledged = (status: number) => status >= 200 && status < 300

/** Delivers events over HTTP: independent of each other, retried by the policy of their target, kept only in memory. */
export function createWebhooks({ timers, now, scale, version, jitterMs }: Dependencies): Webhooks {
  const agent = new Agent({
    connections: CONNECTIONS_PER_RECEIVER,
    headersTimeout: RECEIVER_TIMEOUT_MS,
    bodyTimeout: RECEIVER_TIMEOUT_MS
  })
  const pending = new Set<symbol>()
  const counts = { posted: 0, delivered: 0, retried: 0, givenUp: 0, dropped: 0 }

  async function attempt(url: string, body: string, id: string, key: string | null, extra: Record<string, string>) {
    counts.posted++
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'x-webhook-request-id': id,
      'x-webhook-timestamp': String(now()),
      'user-agent': `WAHA/${version}`
    }
    if (key !== null) {
      headers['x-webhook-hmac'] = signatureOf(body, key)
      headers['x-webhook-hmac-algorithm'] = 'sha512'
    }
    try {
      const answer = await request(url, { method: 'POST', headers: { ...headers, ...extra }, body, dispatcher: agent })
      await answer.body.dump()
      return { status: answer.statusCode, retryAfterSeconds: Number(answer.headers['retry-after']) || 0 }
    } catch {
      return { status: 0, retryAfterSeconds: 0 }
    }
  }

  async function run(target: Target, body: string, firstAnswered: (status: number) => void): Promise<number> {
    const token = Symbol('delivery')
    const id = ulid(now())
    pending.add(token)
    const heldMs = jitterMs() * Math.random()
    if (heldMs > 0) await timers.wait(heldMs)
    for (let retry = 0; ; ) {
      const answer = await attempt(target.url, body, id, target.hmacKey, target.headers)
      if (retry === 0) firstAnswered(answer.status)
      const acknowledged = isAcknowledged(answer.status)
      if (acknowledged || retry >= target.retries.attempts) {
        if (acknowledged) counts.delivered++
        else counts.givenUp++
        pending.delete(token)
        return answer.status
      }
      retry++
      const ownDelayMs = retryDelayMs(target.retries, retry, Math.random())
      await timers.wait(scale(Math.max(ownDelayMs, answer.retryAfterSeconds * 1000)))
      // A reset in between forgot this delivery: a server that restarts loses its retries.
      if (!pending.has(token)) return answer.status
      counts.retried++
    }
  }

  return {
    deliver(target, body) {
      if (pending.size >= PENDING_MAX) {
        counts.dropped++
        return { first: Promise.resolve(0), done: Promise.resolve(0) }
      }
      let firstAnswered: (status: number) => void = () => {}
      const first = new Promise<number>(resolve => {
        firstAnswered = resolve
      })
      return { first, done: run(target, body, firstAnswered) }
    },
    async post(url, body, hmacKey, headers) {
      return (await attempt(url, body, ulid(now()), hmacKey, headers)).status
    },
    counts: () => ({ pending: pending.size, ...counts }),
    pending: () => pending.size,
    reset() {
      pending.clear()
      Object.assign(counts, { posted: 0, delivered: 0, retried: 0, givenUp: 0, dropped: 0 })
    },
    close: () => agent.destroy()
  }
}
