import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { Test } from 'tap'
import { request } from 'undici'
import { type OfficialSimulatorOptions, startOfficialSimulator } from '../../src/connectors/sandbox/official/server.ts'

export const SECRET = 'app-secret-of-the-test'
export const VERIFY = 'verify-me'
export const TOKEN = 'EAABgood'
export const WABA = '200000000000001'
export const PNID = '100000000000001'
export const BUSINESS_DIGITS = '5511900000000'
const DEADLINE_MS = 5000

// biome-ignore lint/suspicious/noExplicitAny: answers of the platform are read freely in assertions.
type Loose = any
export type Hook = { headers: IncomingHttpHeaders; raw: string; body: Loose; signed: boolean }
export type Got = { status: number; body: Loose; headers: IncomingHttpHeaders }

type Falsy<Value> = Value | undefined | false | null

/** Polls until the condition gives something; fails the test by throwing when the deadline has passed. */
export async function eventually<Value>(get: () => Falsy<Value> | Promise<Falsy<Value>>): Promise<Value> {
  const deadline = Date.now() + DEADLINE_MS
  for (;;) {
    const value = await get()
    if (value) return value
    if (Date.now() > deadline) throw new Error('it did not happen in time')
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

/** A webhook receiver that keeps what it gets, answers what `answer` says and passes the handshake. */
async function startReceiver(t: Test) {
  const hooks: Hook[] = []
  const receiver = { url: '', hooks, answer: (): number => 200, verify: VERIFY }
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', chunk => chunks.push(chunk))
    req.on('end', () => {
      if (req.method === 'GET') {
        const query = new URL(req.url ?? '/', 'http://receiver').searchParams
        const fits = query.get('hub.mode') === 'subscribe' && query.get('hub.verify_token') === receiver.verify
        res.writeHead(fits ? 200 : 403).end(fits ? query.get('hub.challenge') : '')
        return
      }
      const bytes = Buffer.concat(chunks)
      const raw = bytes.toString('latin1')
      const expected = `sha256=${createHmac('sha256', SECRET).update(bytes).digest('hex')}`
      const signed = req.headers['x-hub-signature-256'] === expected
      const status = receiver.answer()
      let body: Loose = null
      try {
        body = JSON.parse(bytes.toString('utf8'))
      } catch {}
      hooks.push({ headers: req.headers, raw, body, signed })
      res.writeHead(status).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  receiver.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/webhooks`
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return receiver
}

/** The simulator with one account and one number, a receiver, and short ways to call both APIs. */
export async function startWorld(t: Test, options: Partial<OfficialSimulatorOptions> = {}) {
  const receiver = await startReceiver(t)
  const simulator = await startOfficialSimulator({
    appSecret: SECRET,
    verifyToken: VERIFY,
    callbackUrl: receiver.url,
    delaysMs: { sent: 10, delivered: 60, read: 110 },
    seed: {
      wabas: [{ id: WABA, numbers: [{ id: PNID, displayNumber: '+55 11 90000-0000', verifiedName: 'Acme' }] }],
      tokens: [{ token: TOKEN, wabas: 'all' }]
    },
    ...options
  })
  t.teardown(() => simulator.close())
  const call = async (
    method: string,
    url: string,
    body?: unknown,
    headers: Record<string, string> = {}
  ): Promise<Got> => {
    const plain = body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
    const response = await request(url, {
      method: method as 'GET',
      headers: { ...(plain ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: plain ? (body as string) : JSON.stringify(body) })
    })
    const text = await response.body.text()
    let parsed: Loose = text
    try {
      parsed = JSON.parse(text)
    } catch {}
    return { status: response.statusCode, body: parsed, headers: response.headers as IncomingHttpHeaders }
  }
  const bearer = { authorization: `Bearer ${TOKEN}` }
  const graph = (method: string, path: string, body?: unknown, headers: Record<string, string> = bearer) =>
    call(method, `${simulator.graphUrl}/${path}`, body, headers)
  const control = (method: string, route: string, body?: unknown) =>
    call(method, `${simulator.url}/_control/${route}`, body)
  const send = (message: Record<string, unknown>, headers: Record<string, string> = bearer) =>
    graph('POST', `${PNID}/messages`, { messaging_product: 'whatsapp', to: '+5511900000001', ...message }, headers)
  const values = (): Loose[] =>
    receiver.hooks.flatMap(hook =>
      (hook.body?.entry ?? []).flatMap((entry: Loose) => entry.changes.map((change: Loose) => change.value))
    )
  /** Statuses of one message in the order of their arrival. */
  const statuses = (callbackData: string): Loose[] =>
    values()
      .flatMap(value => value.statuses ?? [])
      .filter(status => status.biz_opaque_callback_data === callbackData)
  const drained = async () => t.same((await control('POST', 'drain', {})).body, { drained: true, pending: 0 })
  return { simulator, receiver, call, graph, control, send, values, statuses, drained }
}

export const text = (id: string, extra: Record<string, unknown> = {}) => ({
  type: 'text',
  text: { body: 'Olá https://example.com' },
  biz_opaque_callback_data: id,
  ...extra
})
