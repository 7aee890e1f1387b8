/** The official platform, simulated, in a process of its own; it also notes when each status left it. */
import diagnostics from 'node:diagnostics_channel'
import { startOfficialSimulator } from '../src/connectors/sandbox/official/server.ts'
import { obey } from './program.ts'
import { ACCESS_TOKEN, APP_SECRET, numberId, VERIFY_TOKEN, WABA } from './simulator-world.ts'

export type SimulatorOrder =
  | { readonly kind: 'start'; readonly numbers: number; readonly statuses: boolean }
  | { readonly kind: 'callback'; readonly url: string }
  | { readonly kind: 'statuses' }

export type StartedSimulator = { readonly url: string; readonly graphUrl: string }
/** `<message id>|<status>` and the moment at which its callback was written to the socket. */
export type Moment = readonly [name: string, at: number]

/** Milliseconds from acceptance to each status: short, so that a run can be short. */
const DELAYS_MS = { sent: 100, delivered: 250, read: 500 }

let posted: Moment[] = []
let baseUrl = ''

async function start(numbers: number, statuses: boolean): Promise<StartedSimulator> {
  const { url, graphUrl } = await startOfficialSimulator({
    appSecret: APP_SECRET,
    verifyToken: VERIFY_TOKEN,
    autoStatuses: statuses,
    delaysMs: DELAYS_MS,
    seed: {
      wabas: [
        {
          id: WABA,
          numbers: Array.from({ length: numbers }, (_, index) => ({
            id: numberId(index),
            displayNumber: `+55 11 8${String(index).padStart(8, '0')}`
          }))
        }
      ],
      tokens: [{ token: ACCESS_TOKEN, wabas: 'all' }]
    }
  })
  baseUrl = url
  await control('settings', { recordSends: false, countByCallbackData: false })
  if (statuses) diagnostics.subscribe('undici:client:sendHeaders', note)
  return { url, graphUrl }
}

async function control(route: string, body: unknown): Promise<unknown> {
  const answer = await fetch(`${baseUrl}/_control/${route}`, { method: 'POST', body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`the simulator refused ${route}: ${await answer.text()}`)
  return answer.json()
}

type StatusNews = { readonly status: string; readonly biz_opaque_callback_data?: string }
type Envelope = {
  readonly entry: readonly { readonly changes: readonly { readonly value: { statuses?: StatusNews[] } }[] }[]
}

function note(message: unknown): void {
  const { body, path } = (message as { request: { body: unknown; path: string } }).request
  if (path !== '/webhooks/official' || !(body instanceof Uint8Array)) return
  const at = performance.timeOrigin + performance.now()
  const { entry } = JSON.parse(Buffer.from(body).toString()) as Envelope
  for (const { changes } of entry)
    for (const { value } of changes)
      for (const { status, biz_opaque_callback_data: messageId } of value.statuses ?? [])
        posted.push([`${messageId}|${status}`, at])
}

obey<SimulatorOrder>(async order => {
  if (order.kind === 'start') return start(order.numbers, order.statuses)
  if (order.kind === 'callback') return control('callback', { url: order.url, verify: true })
  const answer = posted
  posted = []
  return answer
})
