/** A history of whole loops as the service writes it: six events a message, keys of contacts, outcomes of deliveries. */
import { createHash, randomBytes } from 'node:crypto'
import { derivedId, type IdPrefix, timeOrderedId } from '../src/domain/ids.ts'
import type { DeliveryOutcome } from '../src/domain/record.ts'
import type { AppendRequest } from '../src/log/append-request.ts'
import { MAX_APPENDS_PER_COMMIT } from '../src/log/port.ts'
import type { WebhookType } from '../src/projections/port.ts'
import { PLACES_PER_EVENT, PLACES_PER_TYPE } from '../src/projections/views/outbox.ts'
import { deliveryId } from '../src/projections/views/outbox-ids.ts'

/** Appends that share a commit. */
export type Commit = readonly AppendRequest[]

type Step = {
  readonly type: string
  readonly source: string
  /** Size of what is sealed, before base64; 0: nothing is. */
  readonly sealedBytes: number
  /** Webhooks that the event makes. */
  readonly tells: readonly WebhookType[]
  readonly data: (message: number) => unknown
}
type Told = { readonly position: number; readonly at: string; readonly place: number }

const idOf = (prefix: IdPrefix, name: string): string => derivedId(prefix, createHash('sha256').update(name).digest())
const TENANT = idOf('tn', 'tenant')
const CHANNEL = idOf('ch', 'channel')
const DESTINATION = idOf('whd', 'destination')
const START_MS = Date.parse('2026-01-05T08:00:00.000Z')
const MESSAGES_PER_CONTACT = 10
const OUTCOMES_PER_EVENT = 256

const messageId = (message: number): string => idOf('msg', `message ${message}`)
const contactId = (message: number): string => idOf('ct', `contact ${Math.floor(message / MESSAGES_PER_CONTACT)}`)
const providerIdIndex = (message: number): string => createHash('md5').update(`${message}`).digest('hex')

const CREATION = {
  channelId: CHANNEL,
  tenantId: TENANT,
  kind: 'official',
  label: null,
  number: '5511900000001',
  phoneNumberId: '100000000000001',
  wabaId: '200000000000001',
  source: 'register'
}
const RECEIVER = { destinationId: DESTINATION, tenantId: TENANT, url: 'https://receiver.example/', secretLast4: 'last' }

const STEPS: readonly Step[] = [
  {
    type: 'MessageQueued',
    source: 'api',
    sealedBytes: 250,
    tells: [],
    data: message => ({
      messageId: messageId(message),
      tenantId: TENANT,
      channelId: CHANNEL,
      contactId: contactId(message),
      contentKind: 'text'
    })
  },
  {
    type: 'MessageDispatchStarted',
    source: 'dispatcher',
    sealedBytes: 0,
    tells: [],
    data: message => ({ attempt: 1, dispatchId: `node-1.4711.0123456789ab.${message}` })
  },
  {
    type: 'MessageSent',
    source: 'dispatcher',
    sealedBytes: 150,
    tells: ['message.sent', 'message.status'],
    data: message => ({ attempt: 1, by: 'answer', providerIdIndex: providerIdIndex(message) })
  },
  {
    type: 'MessageReportNoted',
    source: 'callback',
    sealedBytes: 0,
    tells: [],
    data: () => ({ status: 'sent', outcome: 'ok' })
  },
  { type: 'MessageDelivered', source: 'callback', sealedBytes: 0, tells: ['message.status'], data: () => ({}) },
  { type: 'MessageRead', source: 'callback', sealedBytes: 0, tells: ['message.status'], data: () => ({}) }
]
const KEY_STEP: Step = {
  type: 'ContactKeyCreated',
  source: 'keyring',
  sealedBytes: 60,
  tells: [],
  data: message => ({
    contactId: contactId(message),
    tenantId: TENANT,
    index: contactId(message).slice(3),
    wrapped: sealedText(60)
  })
}

const sealedText = (bytes: number): string => randomBytes(bytes).toString('base64')

/** `webhooks`: the tenant has a destination, which gets four events of each message. */
export function* loopHistory(messages: number, webhooks: boolean): Generator<Commit> {
  const writer = createWriter()
  yield [writer.append(`channel-${CHANNEL}`, -1, plain('ChannelConnected', CREATION), 0)]
  if (webhooks) yield [writer.append(`destination-${DESTINATION}`, -1, plain('DestinationCreated', RECEIVER), 0)]
  let outcomes = 0
  for (let first = 0; first < messages; first += MAX_APPENDS_PER_COMMIT) {
    const count = Math.min(MAX_APPENDS_PER_COMMIT, messages - first)
    const group = Array.from({ length: count }, (_, index) => first + index)
    const newcomers = group.filter(message => message % MESSAGES_PER_CONTACT === 0)
    yield newcomers.map(message => writer.append(keyStream(message), -1, KEY_STEP, message))
    for (const [index, step] of STEPS.entries())
      yield group.map(message => writer.append(`message-${messageId(message)}`, index - 1, step, message))
    const told = writer.takeTold()
    for (let from = 0; webhooks && from < told.length; from += OUTCOMES_PER_EVENT) {
      const data = { outcomes: told.slice(from, from + OUTCOMES_PER_EVENT).map(outcomeOf) }
      yield [writer.append('outcomes-0-20260105', outcomes++ - 1, plain('DeliveriesSettled', data), 0)]
    }
  }
}

const keyStream = (message: number): string => `keys-${TENANT}.${contactId(message).slice(3)}.1`
const plain = (type: string, data: unknown): Step => ({
  type,
  source: 'api',
  sealedBytes: 0,
  tells: [],
  data: () => data
})

/** Counts positions as the log will, and remembers what is to be told. */
function createWriter() {
  let position = 0
  let told: Told[] = []
  return {
    append(stream: string, expected: number, step: Step, message: number): AppendRequest {
      const { type, source, sealedBytes, tells } = step
      position++
      const at = new Date(START_MS + position).toISOString()
      const id = timeOrderedId('evt', START_MS + position, randomBytes(10))
      for (const place of tells.keys()) told.push({ position, at, place })
      const sealed = sealedBytes === 0 ? {} : { sealed: sealedText(sealedBytes) }
      const subject = sealedBytes === 0 ? {} : { subject: contactId(message) }
      const body = JSON.stringify({ v: 1, data: step.data(message), ...sealed })
      const meta = JSON.stringify({ tenant: TENANT, trace: TENANT, cause: null, source, at, ...subject })
      return { stream, expected, events: [{ id, type, body, meta }] }
    },
    takeTold() {
      const taken = told
      told = []
      return taken
    }
  }
}

/** The id that the outbox gives to the delivery of the only destination. */
function outcomeOf({ position, at, place }: Told): DeliveryOutcome {
  const seq = position * PLACES_PER_EVENT + place * PLACES_PER_TYPE
  return {
    deliveryId: deliveryId(seq, Date.parse(at)),
    position,
    destinationId: DESTINATION,
    state: 'delivered',
    attempt: 1,
    at,
    status: 204,
    error: null,
    durationMs: 3
  }
}
