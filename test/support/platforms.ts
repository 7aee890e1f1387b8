/** Both platforms as simulators in the process of the test: they outlive the service, however it ends. */
import { type OfficialSimulatorOptions, startOfficialSimulator } from '../../src/connectors/sandbox/official/server.ts'
import {
  startUnofficialSimulator,
  type UnofficialSimulatorOptions
} from '../../src/connectors/sandbox/unofficial/server.ts'
import { call } from './http.ts'

type Scope = { teardown(run: () => unknown): unknown }

export const APP_SECRET = 'app-secret-of-the-test'
export const VERIFY_TOKEN = 'verify-token-of-the-test'
export const ACCESS_TOKEN = 'EAABtokenOfTheTest'
export const WABA_ID = '200000000000001'
export const INSTANCE_KEY = 'instance-key-of-the-test'

export type OfficialSend = {
  readonly wamid: string
  readonly to: string
  readonly callbackData?: string
  readonly body: Readonly<Record<string, unknown>>
}
export type OfficialPlatform = Awaited<ReturnType<typeof startOfficial>>
export type UnofficialPlatform = Awaited<ReturnType<typeof startUnofficial>>

/** Fails loudly: a control call that is refused is a mistake of the test. */
async function controlled<B>(method: string, url: string, body?: unknown): Promise<B> {
  const answer = await call<B>(method, url, body)
  if (answer.status !== 200) throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** The official platform with one account; its reports go to the service at `serviceUrl`. */
export async function startOfficial(t: Scope, serviceUrl: string, options: Partial<OfficialSimulatorOptions> = {}) {
  const simulator = await startOfficialSimulator({
    appSecret: APP_SECRET,
    verifyToken: VERIFY_TOKEN,
    callbackUrl: `${serviceUrl}/webhooks/official`,
    delaysMs: { sent: 20, delivered: 150, read: 350 },
    seed: { wabas: [{ id: WABA_ID, numbers: [] }], tokens: [{ token: ACCESS_TOKEN, wabas: 'all' }] },
    ...options
  })
  t.teardown(() => simulator.close())
  const control = <B>(method: string, route: string, body?: unknown): Promise<B> =>
    controlled(method, `${simulator.url}/_control/${route}`, body)
  let numbers = 0
  return {
    graphUrl: simulator.graphUrl,
    control,
    /** Nobody listens there from now on. */
    close: simulator.close,
    /** A number that nobody has connected yet. */
    async newNumber(): Promise<{ phoneNumberId: string; number: string }> {
      const place = String(++numbers).padStart(4, '0')
      const phoneNumberId = `10000000000${place}`
      await control('POST', 'numbers', {
        wabaId: WABA_ID,
        id: phoneNumberId,
        displayNumber: `+55 11 90000-${place}`,
        verifiedName: 'Acme'
      })
      return { phoneNumberId, number: `551190000${place}` }
    },
    fault: (fault: string, more: object = {}) => control<{ id: string }>('POST', 'faults', { fault, ...more }),
    clearFaults: () => control('DELETE', 'faults'),
    online: (online: boolean) => control('POST', 'online', { online }),
    /** How often the platform accepted the message. */
    async timesAccepted(messageId: string): Promise<number> {
      const sends = await control<{ byCallbackData: Record<string, number> }>('GET', `sends?callbackData=${messageId}`)
      return sends.byCallbackData[messageId] ?? 0
    },
    async sends(): Promise<readonly OfficialSend[]> {
      return (await control<{ list: OfficialSend[] }>('GET', 'sends?list=1&counts=0')).list
    },
    /** One status in a callback of its own; answers what the service answered. */
    status: (body: { callbackData?: string; wamid?: string; status: string } & Record<string, unknown>) =>
      control<{ status: number | null; wamid: string }>('POST', 'status', body),
    /** Any callback, rightly signed unless told otherwise; answers what the service answered. */
    callback: (body: object, sign: boolean | 'wrong' = true) =>
      control<{ status: number | null }>('POST', 'webhook', { body, sign }),
    inbound: (body: object) => control<{ status: number | null; ids: string[] }>('POST', 'inbound', body)
  }
}

/** An instance of the unofficial platform. QRs are scanned when the test says so. */
export async function startUnofficial(t: Scope, options: Partial<UnofficialSimulatorOptions> = {}) {
  const simulator = await startUnofficialSimulator({
    apiKey: INSTANCE_KEY,
    engine: 'NOWEB',
    timeScale: 0.02,
    delaysMs: { server: 20, device: 150, read: 350 },
    ...options
  })
  t.teardown(() => simulator.close())
  const control = <B>(method: string, route: string, body?: unknown): Promise<B> =>
    controlled(method, `${simulator.url}/_control/${route}`, body)
  return {
    url: simulator.url,
    control,
    scan: (session: string, number: string) => control('POST', `sessions/${session}/scan`, { number }),
    fault: (fault: string, more: object = {}) => control('POST', 'faults', { fault, ...more }),
    online: (online: boolean) => control('POST', 'online', { online }),
    /** How often a message with this text went out. */
    async timesAccepted(text: string): Promise<number> {
      return (await control<{ byText: Record<string, number> }>('GET', 'sends')).byText[text] ?? 0
    },
    async sessions(): Promise<readonly { name: string; status: string }[]> {
      return (await control<{ sessions: { name: string; status: string }[] }>('GET', 'state')).sessions
    },
    /** Messages of a session, newest last. */
    async sends(): Promise<readonly { session: string; chatId: string; id: string }[]> {
      return (await control<{ list: { session: string; chatId: string; id: string }[] }>('GET', 'sends?list=1')).list
    }
  }
}
