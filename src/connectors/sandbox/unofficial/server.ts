import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { contactRoutes } from './contacts.ts'
import { controlRoutes } from './control.ts'
import { createWorld, type UnofficialSimulatorOptions } from './create-world.ts'
import { badRequest, crashed, notFound } from './errors.ts'
import { environmentOf } from './events.ts'
import { fileRoutes } from './files.ts'
import { readBody, writeAnswer } from './http.ts'
import { authorise, keyRoutes } from './keys.ts'
import { messageRoutes } from './message-routes.ts'
import { qrRoutes } from './qr.ts'
import { type Answer, type Call, createRouter, json, type Routes } from './routing.ts'
import { sendRoutes } from './send-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import type { World } from './world.ts'

const KEEP_ALIVE_MS = 60_000

export type { UnofficialSimulatorOptions }
export type UnofficialSimulator = { url: string; port: number; close(): Promise<void> }

const serverRoutes: Routes = {
  'GET /ping': () => json(200, { message: 'pong' }),
  'GET /health': () => json(200, { status: 'ok', info: {}, error: {}, details: {} }),
  'GET /api/server/version': world => json(200, { ...environmentOf(world), worker: { id: null } }),
  'GET /api/server/status': world =>
    json(200, { startTimestamp: world.startedAt, uptime: world.now() - world.startedAt, worker: { id: null } })
}

const route = createRouter({
  ...sendRoutes,
  ...serverRoutes,
  ...sessionRoutes,
  ...keyRoutes,
  ...fileRoutes,
  ...contactRoutes,
  ...qrRoutes,
  ...messageRoutes,
  ...controlRoutes
})

/**
 * Starts a server that behaves as the unofficial platform does, of one engine, over real HTTP on loopback.
 * Its world is steered under `/_control/` (see control.ts). `close` ends timers and connections at once.
 */
export async function startUnofficialSimulator(options: UnofficialSimulatorOptions): Promise<UnofficialSimulator> {
  const sockets = new Set<Socket>()
  const world = createWorld(options, sockets)
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    void serve(world, sockets, request, response)
  })
  const host = options.host ?? '127.0.0.1'
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host}:${port}`,
    port,
    async close() {
      world.timers.close()
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeAllConnections()
      await Promise.all([closed, world.webhooks.close()])
    }
  }
}

async function serve(world: World, sockets: Set<Socket>, request: IncomingMessage, response: ServerResponse) {
  const url = request.url ?? '/'
  const { socket } = request
  if (url.startsWith('/_control/')) {
    // Clients may share one connection for both: the order to go offline must still be answered.
    sockets.delete(socket)
  } else if (!world.isOnline()) {
    socket.destroy()
    return
  } else if (!sockets.has(socket)) {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  try {
    writeAnswer(response, await answerTo(world, request, url))
  } catch {
    // The caller hung up while its body was read: nobody is left to answer.
    socket.destroy()
  }
}

const NO_QUERY = new URLSearchParams()

async function answerTo(world: World, request: IncomingMessage, url: string): Promise<Answer> {
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = mark < 0 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1))
  const method = request.method ?? 'GET'
  const body = await readBody(request)
  const found = route(method, path)
  const fields = body.ok ? body.fields : {}
  const call: Call = { method, path, params: found?.params ?? {}, query, headers: request.headers, body: fields }
  const isOpen = path === '/ping' || path.startsWith('/_control/')
  const refusal = isOpen ? null : authorise(world.keys, call)
  if (refusal) return refusal
  if (!body.ok)
    return body.status === 400 ? badRequest(body.message) : json(413, { statusCode: 413, message: body.message })
  if (!found) return notFound(`Cannot ${method} ${path}`)
  try {
    return await found.handler(world, call)
  } catch (error) {
    return crashed(world, call, error instanceof Error ? error.message : 'Unknown error')
  }
}
