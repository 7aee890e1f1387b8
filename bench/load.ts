/** Load generator: sends over keep-alive connections, one request at a time on each. */
import { Client } from 'undici'
import { type Posted, post } from './post.ts'
import { obey } from './program.ts'
import { TEXT } from './simulator-world.ts'
import { percentile } from './statistics.ts'

export type Target = {
  readonly url: string
  readonly apiKey: string
  /** The sends take turns on these. */
  readonly paths: readonly string[]
  readonly connections: number
  /** Recipients that the sends choose from; null: each send has a recipient of its own. */
  readonly contacts: number | null
}
export type LoadOrder =
  /** As fast as the answers come, for a time. */
  | (Target & { readonly kind: 'closed'; readonly warmupMs: number; readonly forMs: number })
  /** As fast as the answers come, a number of sends. */
  | (Target & { readonly kind: 'count'; readonly sends: number })
  /** At a rate that does not wait for answers. */
  | (Target & { readonly kind: 'open'; readonly perSecond: number; readonly forMs: number })
  /** Full batches, one after the other for each client; with `forMs` none begins later than that. */
  | (Target & { readonly kind: 'batches'; readonly batches: number; readonly forMs?: number })
  /** Makes up batches beforehand: the next `batches` then posts them at once. */
  | { readonly kind: 'prepare'; readonly batches: number }

export type BatchLoad = { readonly messages: number; readonly perSecond: number }
export type ClosedLoad = { readonly perSecond: number; readonly p50: number; readonly p99: number }
export type OpenLoad = {
  readonly p50: number
  readonly p99: number
  /** Message and the moment at which its send was due, by the wall clock. */
  readonly sent: readonly (readonly [messageId: string, at: number])[]
}

/** Of a run: no key is used twice. */
const RUN = `${process.pid}-${Date.now().toString(36)}`
let sends = 0
let turns = 0
/** Batches that are made up before the clock runs. */
const BATCHES_READY_MAX = 30
let prepared: string[] = []

function nextBody(contacts: number | null, text = TEXT): string {
  const number = sends++
  // A step that is prime to the count visits all recipients before it comes back to one.
  const recipient = contacts === null ? number : (number * 7919) % contacts
  return JSON.stringify({
    to: `55119${String(recipient).padStart(9, '0')}`,
    content: { kind: 'text', text },
    idempotencyKey: `order-${RUN}-${number}`,
    metadata: { order: `${number}` }
  })
}

type Sender = { send(connection: number): Promise<Posted>; close(): Promise<unknown> }

function createSender({ url, apiKey, paths, connections, contacts }: Target): Sender {
  const clients = Array.from({ length: connections }, () => new Client(url, { pipelining: 1 }))
  const headers = ['authorization', `Bearer ${apiKey}`, 'content-type', 'application/json']
  let turn = 0
  return {
    async send(connection) {
      const client = clients[connection]
      const path = paths[turn++ % paths.length]
      if (!client || path === undefined) throw new Error('no such connection')
      const posted = await post(client, path, headers, nextBody(contacts))
      if (posted.status !== 202) throw new Error(`a send was answered ${posted.status}: ${posted.body}`)
      return posted
    },
    close: () => Promise.all(clients.map(client => client.close()))
  }
}

async function closedLoad(order: Extract<LoadOrder, { kind: 'closed' }>): Promise<ClosedLoad> {
  const sender = createSender(order)
  const from = performance.now() + order.warmupMs
  const until = from + order.forMs
  const latencies: number[] = []
  async function drive(connection: number): Promise<void> {
    for (;;) {
      const began = performance.now()
      if (began >= until) return
      await sender.send(connection)
      const ended = performance.now()
      if (began >= from && ended <= until) latencies.push(ended - began)
    }
  }
  await Promise.all(Array.from({ length: order.connections }, (_, connection) => drive(connection)))
  await sender.close()
  const perSecond = latencies.length / (order.forMs / 1000)
  return { perSecond, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
}

async function countedLoad(order: Extract<LoadOrder, { kind: 'count' }>): Promise<null> {
  const sender = createSender(order)
  let left = order.sends
  async function drive(connection: number): Promise<void> {
    while (left-- > 0) await sender.send(connection)
  }
  await Promise.all(Array.from({ length: order.connections }, (_, connection) => drive(connection)))
  await sender.close()
  return null
}

/** Items of the largest batch; with the text below it has nearly the 512 KB that a batch may have. */
const BATCH_ITEMS = 2_000
const BATCH_TEXT = 'Your order is on its way and arrives tomorrow between nine and noon. Reply STOP to opt out of them.'

const nextBatch = (contacts: number | null): string =>
  `{"messages":[${Array.from({ length: BATCH_ITEMS }, () => nextBody(contacts, BATCH_TEXT)).join(',')}]}`

const makeBatches = (count: number, contacts: number | null): string[] =>
  Array.from({ length: count }, () => nextBatch(contacts))

async function batchLoad(order: Extract<LoadOrder, { kind: 'batches' }>): Promise<BatchLoad> {
  const { batches, connections, contacts, paths, url, apiKey, forMs = Number.POSITIVE_INFINITY } = order
  const headers = ['authorization', `Bearer ${apiKey}`, 'content-type', 'application/json']
  let spentMs = 0
  let messages = 0
  for (let left = batches; left > 0; left -= BATCHES_READY_MAX) {
    const bodies = prepared.length > 0 ? prepared : makeBatches(Math.min(left, BATCHES_READY_MAX), contacts)
    prepared = []
    const began = performance.now()
    const drive = async (): Promise<void> => {
      const client = new Client(url)
      while (performance.now() < began + forMs) {
        const body = bodies.pop()
        if (body === undefined) break
        const path = `${paths[turns++ % paths.length]}/batch`
        const { status, body: answer } = await post(client, path, headers, body)
        if (status !== 202 || answer.includes('"error"'))
          throw new Error(`a batch was answered ${status}: ${answer.slice(0, 300)}`)
        messages += BATCH_ITEMS
      }
      await client.close()
    }
    await Promise.all(Array.from({ length: connections }, drive))
    spentMs += performance.now() - began
  }
  return { messages, perSecond: messages / (spentMs / 1000) }
}

/** A send that finds no free connection waits for one, and its wait counts: the clock runs from the moment it was due. */
async function openLoad(order: Extract<LoadOrder, { kind: 'open' }>): Promise<OpenLoad> {
  const sender = createSender(order)
  const free = Array.from({ length: order.connections }, (_, connection) => connection)
  const waiting: number[] = []
  const latencies: number[] = []
  const sent: [string, number][] = []
  const running = new Set<Promise<void>>()
  const total = Math.round((order.perSecond * order.forMs) / 1000)
  const began = performance.now()

  async function sendDue(connection: number, due: number): Promise<void> {
    const { body } = await sender.send(connection)
    latencies.push(performance.now() - due)
    sent.push([(JSON.parse(body) as { messageId: string }).messageId, performance.timeOrigin + due])
    free.push(connection)
    start()
  }

  function start(): void {
    while (waiting.length > 0) {
      const connection = free.pop()
      if (connection === undefined) return
      const work = sendDue(connection, waiting.shift() ?? 0)
      running.add(work)
      void work.finally(() => running.delete(work))
    }
  }

  for (let issued = 0; issued < total; ) {
    const elapsed = performance.now() - began
    for (; issued < total && (issued * 1000) / order.perSecond <= elapsed; issued++)
      waiting.push(began + (issued * 1000) / order.perSecond)
    start()
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  while (running.size > 0) await Promise.all(running)
  await sender.close()
  return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), sent }
}

obey<LoadOrder>(async order => {
  if (order.kind === 'prepare') {
    prepared = makeBatches(order.batches, null)
    return null
  }
  if (order.kind === 'closed') return closedLoad(order)
  if (order.kind === 'batches') return batchLoad(order)
  return order.kind === 'count' ? countedLoad(order) : openLoad(order)
})
