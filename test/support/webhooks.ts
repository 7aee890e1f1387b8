/** A tenant's own receiver: keeps every event, verifies signatures by the rule of the specification, answers as told. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type ReceiverAnswer, startReceiver } from '../../src/connectors/webhook/receiver.ts'
import { eventually } from './eventually.ts'
import { freePort } from './http.ts'

type Scope = { teardown(run: () => unknown): unknown }

export type WebhookEvent = {
  readonly id: string
  readonly type: string
  readonly tenantId: string
  readonly channelId: string
  readonly channelKind: string
  readonly channelNumber: string | null
  readonly provider: string
  readonly engine?: string
  readonly providerTimestamp: string | null
  readonly brokerTimestamp: string
  readonly traceId: string
  readonly data: Readonly<Record<string, unknown>>
}
export type Hook = {
  readonly event: WebhookEvent
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly rawBody: Buffer
  /** It was answered 2xx. */
  readonly taken: boolean
}
export type Hooks = Awaited<ReturnType<typeof startHooks>>

/** `t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>` under the destination's secret (channel-service, Authentication 4). */
export function isSigned({ headers, rawBody }: Hook, secret: string): boolean {
  const parts = String(headers['x-service-signature']).split(',')
  const time = parts.find(part => part.startsWith('t='))?.slice(2) ?? ''
  if (!/^\d{10}$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > 300) return false
  const expected = createHmac('sha256', secret).update(`${time}.`).update(rawBody).digest()
  const given = parts.filter(part => part.startsWith('v1=')).map(part => Buffer.from(part.slice(3), 'hex'))
  return given.some(one => one.length === expected.length && timingSafeEqual(one, expected))
}

export async function startHooks(t: Scope) {
  const port = await freePort()
  const hooks: Hook[] = []
  /** Of each message, what was taken of it, as `message.sent`, `sent`, `delivered`, `read`, `failed`. */
  const stories = new Map<string, string[]>()
  let answer: (hook: Omit<Hook, 'taken'>) => ReceiverAnswer = () => 204
  let close: (() => Promise<void>) | null = null

  async function up(): Promise<void> {
    const receiver = await startReceiver({
      host: '127.0.0.1',
      port,
      respond: (_n, request) => {
        const event = JSON.parse(request.rawBody.toString()) as WebhookEvent
        return answer({ event, headers: request.headers, rawBody: request.rawBody })
      },
      onEvent: ({ event, headers, rawBody, answer: given }) => {
        const status = typeof given === 'object' ? given.status : given
        const taken = typeof status === 'number' && status < 300
        const hook = { event: event as unknown as WebhookEvent, headers, rawBody, taken }
        hooks.push(hook)
        if (taken) tell(hook)
      }
    })
    close = receiver.close
  }

  function tell({ event: { type, data } }: Hook): void {
    const messageId = String(data.messageId)
    const story = stories.get(messageId) ?? []
    stories.set(messageId, story)
    story.push(type === 'message.status' ? String(data.status) : type)
  }

  async function down(): Promise<void> {
    await close?.()
    close = null
  }

  t.teardown(down)
  await up()
  const taken = (): readonly Hook[] => hooks.filter(hook => hook.taken)
  /** Events of one message in the order of their arrival. */
  const storyOf = (messageId: string): readonly string[] => [...(stories.get(messageId) ?? [])]
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    up,
    down,
    all: (): readonly Hook[] => hooks,
    taken,
    storyOf,
    /** How requests are answered from now on; 204 at first. */
    answers(next: (hook: Omit<Hook, 'taken'>) => ReceiverAnswer): void {
      answer = next
    },
    /** Resolves with the first event taken that is wanted. */
    got: (what: string, wanted: (event: WebhookEvent) => boolean): Promise<Hook> =>
      eventually(`the event ${what}`, () => taken().find(hook => wanted(hook.event)), {
        seen: () => taken().map(hook => [hook.event.type, hook.event.data.status])
      }),
    /** Resolves when the message's story has so many steps. */
    told: (messageId: string, steps: number): Promise<readonly string[]> =>
      eventually(
        `an event story of ${steps} steps`,
        () => {
          const story = storyOf(messageId)
          return story.length >= steps ? story : null
        },
        { seen: () => storyOf(messageId) }
      )
  }
}
