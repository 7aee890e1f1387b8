/** A busy day made by the domain's own deciders: failures, duplicates, lost answers, late proofs, dead deliveries, releases. */
import { channel } from '../../src/domain/channel.ts'
import { destination } from '../../src/domain/destination.ts'
import { type Decider, type Event, isRejection } from '../../src/domain/event.ts'
import { type DispatchAnswer, message, type Report } from '../../src/domain/message.ts'
import type { DeliveryOutcome } from '../../src/domain/record.ts'
import { PLACES_PER_EVENT } from '../../src/projections/views/outbox.ts'
import { deliveryId } from '../../src/projections/views/outbox-ids.ts'
import { at, createHistory, type History, idOf, TENANT } from './history.ts'
import { recordSomething } from './random-records.ts'

export type Random = { below(limit: number): number; pick<T>(items: readonly T[]): T }

/** Mulberry32: small, and the same everywhere. */
export function seeded(seed: number): Random {
  let state = seed
  function below(limit: number): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
  return {
    below,
    pick(items) {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    }
  }
}

type Entity<Command> = (stream: string, command: Command) => void

function entity<State, Command, E extends Event>(
  history: History,
  decider: Decider<State, Command, E>
): Entity<Command> {
  const states = new Map<string, State>()
  return (stream, command) => {
    const state = states.get(stream) ?? decider.initial
    const decision = decider.decide(state, command)
    if (isRejection(decision)) return
    states.set(stream, decision.reduce(decider.evolve, state))
    history.append(stream, decision)
  }
}

export const CHANNELS = ['one', 'two', 'three'].map(name => idOf('ch', name))
const DESTINATIONS = ['first', 'second'].map(name => idOf('whd', name))
export const CONTACTS = Array.from({ length: 12 }, (_, index) => idOf('ct', `contact ${index}`))

export function randomHistory(seed: number, steps: number): History {
  const history = createHistory()
  const random = seeded(seed)
  const channels = entity(history, channel)
  const messages = entity(history, message)
  const destinations = entity(history, destination)
  setUp(channels, destinations)
  const known: string[] = []
  for (let step = 0; step < steps; step++) {
    const now = at(100 + step)
    const kind = random.below(100)
    if (kind < 8) recordSomething(history, random, now, recentDeliveries(history))
    else if (kind < 26 || known.length === 0) known.push(queue(messages, random, now, step))
    else if (kind < 85) moveMessage(messages, random, `message-${random.pick(known)}`, now)
    else if (kind < 90) changeChannel(channels, random, now)
    else if (kind < 92) changeDestination(destinations, random, now)
    else if (kind < 95) receive(history, random, now, step)
    else settle(history, random, now)
  }
  return history
}

type Commands<T> = T extends Entity<infer C> ? C : never
type Channels = ReturnType<typeof entity<unknown, Parameters<typeof channel.decide>[1], never>>
type Messages = ReturnType<typeof entity<unknown, Parameters<typeof message.decide>[1], never>>
type Destinations = ReturnType<typeof entity<unknown, Parameters<typeof destination.decide>[1], never>>

function setUp(channels: Channels, destinations: Destinations): void {
  for (const channelId of CHANNELS) {
    const creation = {
      channelId,
      tenantId: TENANT,
      kind: 'official',
      label: null,
      number: '4915',
      source: 'connect'
    } as const
    channels(`channel-${channelId}`, { type: 'Connect', at: at(0), creation, secrets: {}, quarantineMs: 60_000 })
  }
  for (const destinationId of DESTINATIONS)
    destinations(`destination-${destinationId}`, {
      type: 'Create',
      at: at(1),
      destinationId,
      tenantId: TENANT,
      url: 'https://receiver.example/events',
      secrets: { secret: 'a secret of some length' }
    })
}

function queue(messages: Messages, random: Random, now: string, step: number): string {
  const messageId = idOf('msg', `message ${step}`)
  messages(`message-${messageId}`, {
    type: 'Queue',
    at: now,
    messageId,
    tenantId: TENANT,
    channelId: random.pick(CHANNELS),
    contactId: random.pick(CONTACTS),
    contentKind: 'text',
    replyTo: null,
    ttlSeconds: random.pick([null, 30, 3_000]),
    secrets: { to: '4915', content: {} }
  })
  return messageId
}

function moveMessage(messages: Messages, random: Random, stream: string, now: string): void {
  const attempt = 1 + random.below(3)
  const command = random.pick<Commands<Messages>>([
    { type: 'StartDispatch', at: now, dispatchId: 'dispatch' },
    { type: 'StartDispatch', at: now, dispatchId: 'dispatch' },
    { type: 'RecordAnswer', at: now, attempt, answer: randomAnswer(random, stream, now) },
    { type: 'RecordAnswer', at: now, attempt, answer: randomAnswer(random, stream, now) },
    { type: 'MarkIndeterminate', at: now, attempt, timeoutAt: now },
    { type: 'TimeOut', at: now },
    { type: 'FailWaiting', at: now, code: 'channel_deleted' },
    ...CHANNELS.map(channelId => ({
      type: 'RecordReport' as const,
      at: now,
      channelId,
      report: randomReport(random, stream, now)
    })),
    { type: 'Renotify', at: now }
  ])
  messages(stream, command)
}

function randomAnswer(random: Random, stream: string, now: string): DispatchAnswer {
  const secrets = null
  return random.pick<DispatchAnswer>([
    { kind: 'sent', providerIdIndex: `index of ${stream}`, secrets: {} },
    { kind: 'sent', providerIdIndex: `index of ${stream}`, secrets: {} },
    { kind: 'refused', code: 'provider_rejected', providerCode: null, secrets },
    { kind: 'retry', code: 'busy', retryAt: now, maxAttempts: 2, scope: 'message', providerCode: null, secrets },
    { kind: 'channel_trouble', code: 'credentials_rejected', retryAt: now, secrets },
    { kind: 'unknown', code: 'timeout', timeoutAt: now, secrets }
  ])
}

function randomReport(random: Random, stream: string, now: string): Report {
  return {
    status: random.pick(['sent', 'delivered', 'read', 'failed']),
    code: null,
    reactionCode: null,
    providerCode: null,
    providerAt: random.pick([null, now]),
    providerIdIndex: random.pick([null, `index of ${stream}`]),
    secrets: null
  }
}

function changeChannel(channels: Channels, random: Random, now: string): void {
  const command = random.pick<Commands<Channels>>([
    { type: 'MarkDown', at: now, source: 'supervisor', reason: 'session_dropped' },
    { type: 'BeginReconnect', at: now, source: 'reconnect', session: null },
    { type: 'MarkConnected', at: now, source: 'reconnect', number: '4916' },
    { type: 'Disconnect', at: now, source: 'disconnect' },
    { type: 'Rename', at: now, label: `label ${random.below(5)}` },
    { type: 'RecordTrouble', at: now, code: 'credentials_rejected', secretsGeneration: 0 },
    { type: 'ClearTrouble', at: now },
    { type: 'Limit', at: now, failures: 10, windowSeconds: 300 },
    { type: 'ReleaseLimit', at: now, termsVersion: 'limited-release-v1' },
    { type: 'Restrict', at: now, code: 'provider_restricted', until: random.pick([null, now]) },
    { type: 'ReleaseQuarantine', at: now, reason: null },
    ...(random.below(20) === 0 ? [{ type: 'Delete' as const, at: now, source: 'admin' as const }] : [])
  ])
  channels(`channel-${random.pick(CHANNELS)}`, command)
}

function changeDestination(destinations: Destinations, random: Random, now: string): void {
  const command = random.pick<Commands<Destinations>>([
    { type: 'Change', at: now, url: null, enabled: false },
    { type: 'Change', at: now, url: null, enabled: true },
    { type: 'Change', at: now, url: null, enabled: true },
    { type: 'Disable', at: now, reason: 'gone' }
  ])
  destinations(`destination-${random.pick(DESTINATIONS)}`, command)
}

function receive(history: History, random: Random, now: string, step: number): void {
  const messageId = idOf('msg', `inbound ${step}`)
  const data = {
    messageId,
    tenantId: TENANT,
    channelId: random.pick(CHANNELS),
    channelKind: 'official',
    contactId: random.pick(CONTACTS),
    contentKind: 'text',
    providerIdIndex: `index of inbound ${step}`
  }
  history.append(`message-${messageId}`, [{ type: 'MessageReceived', at: now, data }], { source: 'callback' })
}

/** Ids of late deliveries, some of which never were or are settled already. */
function recentDeliveries(history: History): readonly { readonly id: string; readonly position: number }[] {
  return history.events
    .slice(-60)
    .filter(({ type }) => /^Message(Sent|Delivered|Read|Failed|Received)$/.test(type))
    .flatMap(({ position, meta }) => {
      const ms = Date.parse((JSON.parse(meta) as { at: string }).at)
      return [0, 1, 32].map(place => ({ id: deliveryId(position * PLACES_PER_EVENT + place, ms), position }))
    })
}

function settle(history: History, random: Random, now: string): void {
  const recent = recentDeliveries(history)
  const from = random.below(recent.length + 1)
  const outcomes = recent.slice(from, from + 1 + random.below(8)).map(({ id, position }): DeliveryOutcome => {
    const state = random.pick(['delivered', 'delivered', 'retrying', 'dead'] as const)
    return {
      deliveryId: id,
      position,
      destinationId: random.pick(DESTINATIONS),
      state,
      attempt: 1 + random.below(3),
      at: now,
      status: state === 'delivered' ? 200 : 500,
      error: state === 'delivered' ? null : 'status_500',
      durationMs: 12,
      ...(state === 'retrying' ? { nextAttemptAt: now } : {})
    }
  })
  if (outcomes.length > 0)
    history.append('outcomes-1-20260105', [{ type: 'DeliveriesSettled', at: now, data: { outcomes } }], {
      tenant: null
    })
}
