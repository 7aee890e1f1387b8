import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { request } from 'undici'
import {
  startUnofficialSimulator,
  type UnofficialSimulatorOptions
} from '../../src/connectors/sandbox/unofficial/server.ts'

export const API_KEY = 'sandbox-key'
export const HMAC_KEY = 'callback-key'
export const PEER = '5511900000001@c.us'
const DEADLINE_MS = 5000

/** The fields of messages and other reports that the tests look at. */
export type Payload = {
  id: string
  from: string
  body: string | null
  ack: number
  ackName: string
  status: string
  statuses: { timestamp: number }[]
  media: { url: string; filename: string | null }
  replyTo: object | null
  vCards: string[]
  revokedMessageId: string
  futureField?: object
  _data: { Info: { SenderAlt: string }; message: { buttonsResponseMessage: object } }
}
export type Event = { id: string; event: string; payload: Payload }
/** The fields of answers that the tests look at. */
export type Body = {
  id: string & { id: string }
  key: { id: string } & string
  value: string
  code: string
  message: string
  status: string & number
  ids: string[]
  pn: string | null
  url: string
  body: string
  picture: string | null
  profilePictureURL: string
  restriction: object
  exception: { name: string }
  request: { body: { text: string } }
  futureField?: object
  media: { url: string }
  drained: boolean
  faults: object[]
  length: number
  [index: number]: { id: string }
}
export type Answer = { status: number; body: Body; raw: Buffer; type: string }
export type Callback = { headers: Record<string, string | string[] | undefined>; raw: string; body: Event }

/** A simulated server and one receiver of its callbacks, over real HTTP. */
export async function startRig(options: Partial<UnofficialSimulatorOptions> = {}) {
  const callbacks: Callback[] = []
  const watchers = new Set<() => void>()
  const plan: { status: number; headers?: Record<string, string> }[] = []

  const receiver = createServer((incoming, response) => {
    let raw = ''
    incoming.on('data', chunk => {
      raw += chunk
    })
    incoming.on('end', () => {
      callbacks.push({ headers: incoming.headers, raw, body: JSON.parse(raw) })
      const { status, headers = {} } = plan.shift() ?? { status: 200 }
      response.writeHead(status, headers).end()
      for (const watcher of watchers) watcher()
    })
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/callbacks`
  const simulator = await startUnofficialSimulator({
    apiKey: API_KEY,
    engine: 'NOWEB',
    timeScale: 0.01,
    delaysMs: { server: 5, device: 10, read: 15 },
    ...options
  })

  async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const answer = await request(`${simulator.url}${path}`, {
      method: method as 'GET',
      headers: { 'x-api-key': API_KEY, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const raw = Buffer.from(await answer.body.arrayBuffer())
    const type = String(answer.headers['content-type'] ?? '')
    const parsed = type.startsWith('application/json') ? JSON.parse(raw.toString()) : null
    return { status: answer.statusCode, body: parsed, raw, type } satisfies Answer
  }
  const control = (path: string, body: unknown = {}) => call('POST', `/_control/${path}`, body)

  /** Resolves once the callbacks so far satisfy the condition. */
  function until(condition: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!condition()) return
        watchers.delete(look)
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => reject(new Error('expected callbacks did not come')), DEADLINE_MS)
      watchers.add(look)
      look()
    })
  }

  return {
    simulator,
    call,
    control,
    until,
    callbacks,
    /** Answers of the receiver to its next callbacks; 200 afterwards. */
    plan,
    receiverUrl,
    of: (event: string) => callbacks.map(({ body }) => body).filter(body => body.event === event),
    statuses: () =>
      callbacks
        .map(({ body }) => body)
        .filter(body => body.event === 'session.status')
        .sort((left, right) => statusAt(left) - statusAt(right))
        .map(body => body.payload.status),
    webhooks: (events: string[] = ['*'], retries?: unknown) => [
      { url: receiverUrl, events, hmac: { key: HMAC_KEY }, ...(retries ? { retries } : {}) }
    ],
    /** Creates a session and lets a phone scan it. */
    async pair(name = 's1', config: Record<string, unknown> = {}) {
      const noweb = { store: { enabled: true } }
      await call('POST', '/api/sessions', { name, config: { webhooks: this.webhooks(), noweb, ...config } })
      await control(`sessions/${name}/scan`, { number: '5511900000000' })
      await control('drain')
      callbacks.length = 0
    },
    async close() {
      await simulator.close()
      receiver.closeAllConnections()
      await new Promise(resolve => receiver.close(resolve))
    }
  }
}

const statusAt = (body: Event) => body.payload.statuses.at(-1)?.timestamp ?? 0
