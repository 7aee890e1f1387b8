/** Doors that answer as scripted and write down who knocked. */
import type { Permission } from '../../src/domain/tenant.ts'
import { PERMISSIONS } from '../../src/domain/tenant.ts'
import { type BatchWorkOptions, createBatchWork } from '../../src/http/batch-work.ts'
import type { ChannelView, ListedChannel, ServiceDoors } from '../../src/http/ports.ts'

export const id = (prefix: string, fill = '0'): string => `${prefix}_${fill.repeat(26)}`
/** Things of other tenants and missing ones look the same from outside. */
export const UNKNOWN = '9'

const keyOf = (letter: string): string => `llk_${letter.repeat(43)}`
export const KEYS = {
  full: keyOf('a'),
  /** Every permission but the one named by the test's route: set with `allow`. */
  limited: keyOf('b'),
  expired: keyOf('c'),
  throttled: keyOf('d')
}

export type Call = { readonly door: string; readonly args: readonly unknown[] }
export type Stub = {
  readonly doors: ServiceDoors
  readonly calls: Call[]
  /** Permissions of the limited key. */
  allow(permissions: readonly Permission[]): void
  /** The next call of this door runs this instead. */
  once(door: string, run: () => unknown): void
}

const AT = '2025-03-01T12:00:00.000Z'
export const channelView: ChannelView = {
  id: id('ch'),
  kind: 'official',
  provider: 'official_platform',
  state: 'connected',
  label: 'Shop',
  number: '5511987654321',
  engine: null,
  lastError: null,
  stateChangedAt: AT,
  limited: { active: false, since: null },
  restricted: { active: false, until: null }
}
const listed: ListedChannel = { ...channelView, tags: [], phoneNumberId: '1001', rateLimitPerMinute: 60, health: null }
const tracked = {
  id: id('msg'),
  channelId: id('ch'),
  state: 'queued',
  attempts: 0,
  lastError: null,
  toAddress: '5511*****4321',
  traceId: id('tr'),
  createdAt: AT,
  updatedAt: AT,
  events: []
}
const { events: _events, ...listedMessage } = tracked
const metrics = {
  granularity: 'day',
  series: [{ day: '2025-03-01', t: '2025-03-01T00:00:00.000Z', enqueued: 3, dispatched: 2, delivered: 1, position: 7 }],
  totals: { enqueued: 3, dispatched: 2, delivered: 1, failed: 1, position: 7 },
  window: '30d'
}
const template = {
  tenantId: id('tn'),
  name: 'order_shipped',
  language: 'en',
  status: 'approved',
  category: null,
  source: 'workspace',
  wabaId: null,
  text: { body: 'Order {{1}}', footer: 'The shop' },
  updatedAt: AT
}
const risk = { tenantId: id('tn'), track: 'unofficial', termsVersion: 'unofficial-v1', acceptedAt: AT }
const destination = { id: id('whd'), tenantId: id('tn'), url: 'https://a.example/', secretLast4: 'abcd', enabled: true }
const key = { id: id('key'), tenantId: id('tn'), name: 'n', permissions: PERMISSIONS, expiresAt: null, createdAt: AT }
const delivery = {
  seq: 1,
  id: id('dlv'),
  eventId: id('evt'),
  eventType: 'message.sent',
  tenantId: id('tn'),
  destinationId: id('whd'),
  position: 7,
  streamNo: 3,
  state: 'delivered',
  attempts: 1,
  lastError: null,
  lastStatus: 200,
  nextAttemptAt: null,
  createdAt: AT,
  deliveredAt: AT,
  redelivery: null
}
const audit = {
  id: id('evt'),
  kind: 'state',
  fromState: null,
  toState: 'connected',
  reason: null,
  source: 'connect',
  activeNumber: null,
  createdAt: AT,
  traceId: id('tr')
}

const ok = (value: unknown) => ({ ok: true, value })
const missing = (code: string) => ({ ok: false, code })
const isUnknown = (value: unknown): boolean => typeof value === 'string' && value.endsWith(UNKNOWN.repeat(26))
const found = (ref: unknown, value: unknown, code: string) => (isUnknown(ref) ? missing(code) : ok(value))
const list = (item: unknown) => ({ items: [item], nextCursor: null })

type Answer = (...args: readonly unknown[]) => unknown
const channel: Answer = (_caller, channelId) => found(channelId, channelView, 'channel_not_found')
const ANSWERS: Readonly<Record<string, Answer>> = {
  'messages.send': (caller, ref) =>
    found(
      ref,
      { messageId: id('msg'), idempotent: false, traceId: (caller as { trace: string }).trace },
      'channel_not_found'
    ),
  'messages.track': (_caller, messageId) =>
    found(messageId, { ...tracked, tenantId: id('tn'), contactId: id('ct') }, 'resource_not_found'),
  'messages.sendMany': (_caller, ref, inputs) =>
    found(
      ref,
      (inputs as readonly object[]).map((_, index) =>
        ok({ messageId: id('msg', String(index % 10)), idempotent: false, traceId: id('tr') })
      ),
      'channel_not_found'
    ),
  'messages.list': () => list({ ...listedMessage, tenantId: id('tn'), contactId: id('ct') }),
  'messages.metrics': () => metrics,
  'messages.renotify': (_caller, messageId) =>
    found(messageId, { enqueued: true, status: 'read', position: 7 }, 'resource_not_found'),
  'messages.renotifyMany': () => ok({ enqueued: 2, skipped: 1, position: 7 }),
  'templates.list': () => list(template),
  'templates.save': () => ok(template),
  'templates.remove': (_caller, name) => found(name, null, 'resource_not_found'),
  'erasure.erase': () =>
    ok({ contact: '5511*****4321', messages: 2, deliveriesCancelled: 1, erasedAt: AT, contactId: id('ct') }),
  'risks.accept': () => ok(risk),
  'risks.list': () => [risk],
  'channels.createOfficial': () => ok(channelView),
  'channels.list': () => list(listed),
  'channels.read': (_caller, channelId) => found(channelId, { ...channelView, tags: [] }, 'channel_not_found'),
  'channels.rename': channel,
  'channels.disconnect': channel,
  'channels.releaseLimit': channel,
  'channels.releaseQuarantine': channel,
  'channels.rotateCredentials': channel,
  'channels.remove': channel,
  'channels.audit': (_caller, channelId) => found(channelId, list(audit), 'channel_not_found'),
  'attempts.start': () => ok({ attemptId: id('cxn'), state: 'connecting', qr: null }),
  'attempts.poll': (_caller, attemptId) =>
    found(attemptId, { attemptId: id('cxn'), state: 'scan_qr', qr: '2@abc' }, 'channel_not_found'),
  'attempts.cancel': (_caller, attemptId) => found(attemptId, { cancelled: true }, 'channel_not_found'),
  'webhooks.createDestination': () => ok({ ...destination, createdAt: AT, secret: 'whsec' }),
  'webhooks.destinations': () => [{ ...destination, createdAt: AT }],
  'webhooks.destination': (_caller, whd) => found(whd, { ...destination, createdAt: AT }, 'resource_not_found'),
  'webhooks.removeDestination': (_caller, whd) => found(whd, null, 'resource_not_found'),
  'webhooks.deliveries': () => list(delivery),
  'webhooks.retryDelivery': (_caller, dlv) => found(dlv, delivery, 'resource_not_found'),
  'keys.create': () => ok({ ...key, lastFour: 'wxyz', revoked: false, apiKey: KEYS.full }),
  'keys.list': () => [
    { ...key, lastFour: 'wxyz', revoked: false },
    { ...key, id: id('key', '1'), lastFour: 'old0', revoked: true }
  ],
  'keys.revoke': (_caller, keyId) => found(keyId, null, 'resource_not_found'),
  'callbacks.official': body => ({ status: (body as Buffer).length === 0 ? 400 : 200 }),
  'callbacks.unofficial': (reference, body) => ({
    status: isUnknown(reference) ? 404 : (body as Buffer).length === 0 ? 400 : 200
  })
}

export function stubDoors(): Stub {
  const calls: Call[] = []
  const scripted = new Map<string, () => unknown>()
  let allowed: readonly Permission[] = PERMISSIONS
  const knock =
    (door: string) =>
    async (...args: readonly unknown[]) => {
      calls.push({ door, args })
      const run = scripted.get(door)
      scripted.delete(door)
      return run ? run() : ANSWERS[door]?.(...args)
    }
  const rooms: Record<string, Record<string, unknown>> = {}
  for (const door of Object.keys(ANSWERS)) {
    const [room = '', name = ''] = door.split('.')
    rooms[room] = { ...rooms[room], [name]: knock(door) }
  }
  const principal = (keyId: string, permissions: readonly Permission[]) => ({ tenantId: id('tn'), keyId, permissions })
  rooms.keys = {
    ...rooms.keys,
    authenticate: async (apiKey: string) => {
      if (apiKey === KEYS.full) return principal(id('key'), PERMISSIONS)
      if (apiKey === KEYS.throttled) return principal(id('key', '2'), PERMISSIONS)
      return apiKey === KEYS.limited ? principal(id('key', '1'), allowed) : null
    }
  }
  // What a batch's thread does of its own is done here as well; behind it is the scripted door.
  const sendMany = knock('messages.sendMany') as BatchWorkOptions['sendMany']
  rooms.messages = { ...rooms.messages, sendBatch: createBatchWork({ sendMany, nextSlice: () => null }) }
  rooms.callbacks = { ...rooms.callbacks, knowsVerifyToken: (token: string) => token === 'verify-me' }
  rooms.health = {
    notReady: () => (scripted.has('health') ? 'the views are being rebuilt' : null),
    facts: () => ({ sandbox: true, log: 'sqlite' })
  }
  return {
    doors: rooms as unknown as ServiceDoors,
    calls,
    allow: permissions => {
      allowed = permissions
    },
    once: (door, run) => scripted.set(door, run)
  }
}
