/** What a tenant does with the service over HTTP: send, track, connect numbers, name receivers. */
import { eventually } from './eventually.ts'
import { type Answer, call } from './http.ts'
import { ACCESS_TOKEN, type OfficialPlatform, type UnofficialPlatform, WABA_ID } from './platforms.ts'
import { type Hooks, startHooks } from './webhooks.ts'

/** The platform's reports may overtake whoever looks. */
const PAST: Readonly<Record<string, readonly string[]>> = { sent: ['delivered', 'read'], delivered: ['read'] }

type Scope = { teardown(run: () => unknown): unknown }

export type Accepted = {
  readonly idempotencyKey: string
  readonly idempotent: boolean
  readonly messageId: string
  readonly state: string
  readonly traceId: string
}
export type TrackedEvent = {
  readonly state: string
  readonly outcome: string
  readonly detail: { readonly code: string | null }
  readonly brokerTimestamp: string
  readonly providerTimestamp: string | null
}
export type Tracked = {
  readonly id: string
  readonly channelId: string
  readonly state: string
  readonly attempts: number
  readonly lastError: string | null
  readonly toAddress: string
  readonly traceId: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly events: readonly TrackedEvent[]
}
export type Channel = {
  readonly id: string
  readonly kind: string
  readonly provider: string
  readonly state: string
  readonly label: string | null
  readonly number: string | null
  readonly lastError: string | null
  readonly restricted: { readonly active: boolean; readonly until: string | null }
  readonly limited: { readonly active: boolean; readonly since: string | null }
}
export type Attempt = {
  readonly attemptId: string
  readonly state: string
  readonly qr?: string
  readonly channelId?: string
  readonly number?: string
  readonly lastError?: string
}
export type Destination = { readonly id: string; readonly url: string; readonly secret: string }
export type Tenant = ReturnType<typeof createTenant>

/** What a receiver must have been told of a message, each step once: `read` may come without `delivered`. */
export const storyOf = ({ events }: Tracked): readonly string[] => {
  const moved = (state: string): boolean =>
    events.some(event => event.state === state && (event.outcome === 'ok' || event.outcome === 'failed'))
  const story = ['sent', 'delivered', 'read', 'failed'].filter(moved)
  return story.includes('sent') ? ['message.sent', ...story] : story
}

let recipients = 0
/** A person nobody has written to yet. */
export const someone = (): string => `5521${String(++recipients).padStart(9, '9')}`
let keys = 0

export function createTenant(url: string, { tenantId, apiKey }: { tenantId: string; apiKey: string }) {
  const ask = <B>(method: string, path: string, body?: unknown): Promise<Answer<B>> =>
    call(method, `${url}${path}`, body, { authorization: `Bearer ${apiKey}` })

  const trySend = (
    ref: string,
    { text = 'Hello', to = someone(), key = `key-${process.pid}-${++keys}`, ...more }: SendOptions = {}
  ): Promise<Answer<Accepted>> =>
    ask('POST', `/v1/channels/${ref}/messages`, {
      to,
      content: { kind: 'text', text },
      idempotencyKey: key,
      ...more
    })

  const track = async (messageId: string): Promise<Tracked> => {
    const answer = await ask<Tracked>('GET', `/v1/messages/${messageId}`)
    if (answer.status !== 200) throw new Error(`tracking ${messageId} answered ${answer.status}`)
    return answer.body
  }

  const attempt = async (attemptId: string): Promise<Attempt> =>
    (await ask<Attempt>('GET', `/v1/channels/connect/${attemptId}`)).body

  async function attemptReaches(attemptId: string, state: string): Promise<Attempt> {
    let last: Attempt | null = null
    return eventually(
      `the attempt's state ${state}`,
      async () => {
        last = await attempt(attemptId)
        return last.state === state && last
      },
      { seen: () => last }
    )
  }

  const startAttempt = (more: object = {}): Promise<Answer<Attempt>> =>
    ask('POST', '/v1/channels/connect', { riskAcceptance: { termsVersion: 'unofficial-v1' }, ...more })

  return {
    tenantId,
    apiKey,
    ask,
    trySend,
    track,
    startAttempt,
    attemptReaches,
    /** Sends and expects 202. */
    async send(ref: string, options: SendOptions = {}): Promise<Accepted> {
      const answer = await trySend(ref, options)
      if (answer.status !== 202) throw new Error(`send answered ${answer.status}: ${JSON.stringify(answer.body)}`)
      return answer.body
    },
    /** Resolves with the tracking view once the message is in this state, or past it. */
    async reaches(messageId: string, state: string): Promise<Tracked> {
      let last: Tracked | null = null
      return eventually(
        `state ${state}`,
        async () => {
          last = await track(messageId)
          return (last.state === state || PAST[state]?.includes(last.state)) && last
        },
        { seen: () => [last?.state, last?.lastError, last?.events] }
      )
    },
    /** A connected official number. */
    async officialNumber(platform: OfficialPlatform): Promise<Channel & { phoneNumberId: string; number: string }> {
      const { phoneNumberId, number } = await platform.newNumber()
      const answer = await ask<Channel>('POST', '/v1/channels', officialBody(phoneNumberId))
      if (answer.status !== 201) throw new Error(`creation answered ${answer.status}: ${JSON.stringify(answer.body)}`)
      return { ...answer.body, phoneNumberId, number }
    },
    /** A connected unofficial number, scanned by a phone with that number. `session` is its name on the instance. */
    async unofficialNumber(platform: UnofficialPlatform, number: string): Promise<{ id: string; session: string }> {
      const started = await startAttempt()
      const { attemptId } = started.body
      await attemptReaches(attemptId, 'scan_qr')
      await platform.scan(attemptId, number)
      const { channelId } = await attemptReaches(attemptId, 'connected')
      return { id: channelId ?? '', session: attemptId }
    },
    async channel(id: string): Promise<Channel> {
      return (await ask<Channel>('GET', `/v1/channels/${id}`)).body
    },
    /** A receiver and its destination. */
    async receiver(t: Scope): Promise<Hooks & { secret: string; destinationId: string }> {
      const hooks = await startHooks(t)
      const made = await ask<Destination>('POST', '/v1/webhooks/destinations', { url: hooks.url })
      if (made.status !== 201) throw new Error(`destination answered ${made.status}: ${JSON.stringify(made.body)}`)
      return { ...hooks, secret: made.body.secret, destinationId: made.body.id }
    }
  }
}

export type SendOptions = {
  readonly text?: string
  readonly to?: string
  readonly key?: string
  readonly ttlSeconds?: number
  readonly metadata?: Readonly<Record<string, string>>
  /** Instead of a text. */
  readonly content?: object
}

export const officialBody = (phoneNumberId: string, accessToken: string = ACCESS_TOKEN) => ({
  provider: 'official_platform',
  kind: 'official',
  label: 'Support',
  credentials: { phoneNumberId, wabaId: WABA_ID, accessToken }
})
