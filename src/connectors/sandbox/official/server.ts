import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { controlCall } from './control.ts'
import { refuse } from './errors.ts'
import { graphCall } from './graph.ts'
import { DOWNLOAD_PATH, downloadMedia } from './media.ts'
import { handleMessages } from './messages.ts'
import { plant } from './seed.ts'
import type { Sim } from './sim.ts'
import { createState, type State } from './state.ts'
import type { StatusUpdate } from './status-updates.ts'
import { createTimeline } from './timeline.ts'
import { createWamids } from './wamid.ts'
import { createWebhooks } from './webhooks.ts'
import { type Answer, readBody, reply } from './wire.ts'

export type OfficialSimulatorOptions = {
  host?: string
  port?: number
  appId?: string
  appSecret: string
  verifyToken: string
  callbackUrl?: string | null
  delaysMs?: { sent: number; delivered: number; read: number }
  autoStatuses?: boolean
  seed?: {
    wabas: { id: string; name?: string; numbers: { id: string; displayNumber: string; verifiedName?: string }[] }[]
    tokens: { token: string; wabas: string[] | 'all' }[]
  }
}
export type OfficialSimulator = { url: string; graphUrl: string; port: number; close(): Promise<void> }

const DEFAULT_APP_ID = '700000000000001'
const MAX_BODY_BYTES = 105 * 1024 * 1024
const KEEP_ALIVE_MS = 75_000
const CONTROL_PREFIX = '/_control/'
const VERSION = /^v\d+\.\d+$/

/**
 * Starts a stand-in for the official platform on a loopback port: the Graph API under `/vNN.N`, signed webhooks to the
 * callback URL, and a control API under `/_control/`. close() ends timers, connections and held answers at once.
 */
export async function startOfficialSimulator(options: OfficialSimulatorOptions): Promise<OfficialSimulator> {
  const fresh = () => freshState(options)
  const sim = createSim(fresh)
  const reset = () => {
    stopTimers(sim)
    Object.assign(sim.state, fresh())
    sim.webhooks.clear()
  }
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    serve(sim, reset, request, response).catch(() => reply(response, refuse(1, undefined, { status: 500 })))
  })
  const host = options.host ?? '127.0.0.1'
  const port = await listen(server, host, options.port ?? 0)
  sim.origin = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  return {
    url: sim.origin,
    graphUrl: `${sim.origin}/v23.0`,
    port,
    async close() {
      stopTimers(sim)
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeAllConnections()
      await Promise.all([closed, sim.webhooks.close()])
    }
  }
}

function freshState(options: OfficialSimulatorOptions): State {
  const state = createState({
    appId: options.appId ?? DEFAULT_APP_ID,
    appSecret: options.appSecret,
    verifyToken: options.verifyToken,
    callbackUrl: options.callbackUrl ?? null,
    delaysMs: options.delaysMs,
    autoStatuses: options.autoStatuses ?? true
  })
  plant(state, options.seed)
  return state
}

async function listen(server: Server, host: string, wanted: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(wanted, host, resolve)
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function createSim(fresh: () => Sim['state']): Sim {
  const state = fresh()
  const webhooks = createWebhooks(state)
  const now = () => Date.now()
  const timeline = createTimeline<StatusUpdate | StatusUpdate[]>(now, item => {
    if (Array.isArray(item)) void webhooks.together(item)
    else webhooks.enqueue(item)
  })
  return { state, webhooks, timeline, now, wamids: createWamids(), reviews: new Set(), held: new Set(), origin: '' }
}

function stopTimers(sim: Sim): void {
  sim.timeline.clear()
  for (const timer of [...sim.reviews, ...sim.held]) clearTimeout(timer)
  sim.reviews.clear()
  sim.held.clear()
}

async function serve(sim: Sim, reset: () => void, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = request.url ?? '/'
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = mark < 0 ? '' : url.slice(mark + 1)
  const isControl = path.startsWith(CONTROL_PREFIX)
  if (!isControl && !sim.state.online) {
    request.socket.destroy()
    return
  }
  const [version = '', ...segments] = path.slice(1).split('/')
  if (request.method === 'POST' && segments.length === 2 && segments[1] === 'messages' && VERSION.test(version)) {
    return handleMessages(sim, request, response, segments[0] ?? '', query)
  }
  const raw = await readBody(request, MAX_BODY_BYTES)
  if (raw === null) {
    request.socket.destroy()
    return
  }
  const search = new URLSearchParams(query)
  if (isControl) {
    const route = path.slice(CONTROL_PREFIX.length)
    return reply(response, await controlCall(sim, reset, request.method ?? 'GET', route, search, raw))
  }
  if (path === DOWNLOAD_PATH) return reply(response, downloadMedia(sim, search, request.headers.authorization))
  if (!VERSION.test(version)) return reply(response, NOT_FOUND)
  const answer = await graphCall(sim, request, { version, path: segments.filter(Boolean), query: search }, raw)
  reply(response, { ...answer, headers: usageHeaders(sim) })
}

const NOT_FOUND: Answer = {
  status: 404,
  body: '{"error":{"message":"Unknown path components","type":"OAuthException","code":2500}}'
}

const usageHeaders = (sim: Sim): Record<string, string> => ({
  'x-fb-trace-id': 'Axxxxxxxxxx',
  'x-app-usage': '{"call_count":1,"total_cputime":1,"total_time":1}',
  'x-business-use-case-usage': JSON.stringify(
    Object.fromEntries(
      [...sim.state.wabas.keys()]
        .slice(0, 1)
        .map(id => [
          id,
          [{ type: 'whatsapp', call_count: 1, total_cputime: 1, total_time: 1, estimated_time_to_regain_access: 0 }]
        ])
    )
  )
})
