/** A client that sends a given number of messages over a load balancer, and repeats each until it is acknowledged. */
import { setTimeout as pause } from 'node:timers/promises'
import { call } from '../support/http.ts'
import type { Accepted } from '../support/tenant.ts'

export type StubbornLoad = {
  /** Ids of the messages that were answered 202. */
  readonly acknowledged: ReadonlySet<string>
  /** How often each other answer came; `none` where the connection broke. */
  readonly others: ReadonlyMap<string, number>
  /** Resolves when all are acknowledged. */
  readonly done: Promise<unknown>
}
export type StubbornLoadOptions = {
  readonly url: string
  readonly apiKey: string
  readonly channels: readonly string[]
  readonly messages: number
  readonly connections: number
  /** Of each connection after each message. */
  readonly pauseMs: number
}

const AGAIN_MS = 100

export function startStubbornLoad(options: StubbornLoadOptions): StubbornLoad {
  const { url, apiKey, channels, messages, connections, pauseMs } = options
  const acknowledged = new Set<string>()
  const others = new Map<string, number>()
  let next = 0

  async function send(number: number): Promise<void> {
    const path = `/v1/channels/${channels[number % channels.length]}/messages`
    const to = `55218${String(number).padStart(8, '0')}`
    const body = { to, content: { kind: 'text', text: `number ${number}` }, idempotencyKey: `storm-${number}` }
    for (;;) {
      const answer = await call<Accepted>('POST', `${url}${path}`, body, { authorization: `Bearer ${apiKey}` }).catch(
        () => null
      )
      if (answer?.status === 202) return void acknowledged.add(answer.body.messageId)
      const name = answer === null ? 'none' : `${answer.status} ${answer.body.error?.code}`
      others.set(name, (others.get(name) ?? 0) + 1)
      await pause(AGAIN_MS)
    }
  }

  async function work(): Promise<void> {
    while (next < messages) {
      await send(next++)
      await pause(pauseMs)
    }
  }

  return { acknowledged, others, done: Promise.all(Array.from({ length: connections }, work)) }
}
