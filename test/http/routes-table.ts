/** Every route behind a Bearer key, as clients know it. */
import type { Permission } from '../../src/domain/tenant.ts'
import { id } from './stub-doors.ts'

export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `{}` stands for the id. */
  readonly path: string
  readonly permission: Permission
  readonly prefix?: string
  readonly notFound?: string
  readonly body?: Readonly<Record<string, unknown>>
  /** What the query must hold. */
  readonly query?: Readonly<Record<string, string>>
  /** Bytes, where it is not that of most routes. */
  readonly bodyLimit?: number
  readonly bodyOptional?: boolean
  /** Paths that must be there. */
  readonly required?: readonly string[]
  readonly success: number
  readonly door: string
  readonly isList?: 'cursor' | 'before'
}

export const SEND_BODY = {
  to: '5511987654321',
  content: { kind: 'text', text: 'hello' },
  idempotencyKey: 'order-1',
  metadata: { order: '1' }
}
const channel = { prefix: 'ch', notFound: 'channel_not_found' }
const attempt = { prefix: 'cxn', notFound: 'channel_not_found' }
const destination = { prefix: 'whd', notFound: 'resource_not_found' }
const read = { method: 'GET', permission: 'channels:read', success: 200 } as const
const write = { permission: 'channels:write', success: 200 } as const
const messagesRead = { method: 'GET', permission: 'messages:read', success: 200 } as const
const message = { prefix: 'msg', notFound: 'resource_not_found' }
const hooks = { permission: 'webhooks:read', success: 200 } as const

export const ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/channels/{}/messages',
    permission: 'messages:send',
    ...channel,
    body: SEND_BODY,
    required: ['to', 'content', 'idempotencyKey'],
    success: 202,
    door: 'messages.send'
  },
  {
    method: 'POST',
    path: '/v1/channels/{}/messages/batch',
    permission: 'messages:send',
    ...channel,
    body: { messages: [SEND_BODY, { ...SEND_BODY, idempotencyKey: 'order-2' }] },
    bodyLimit: 512 * 1024,
    required: ['messages'],
    success: 202,
    door: 'messages.sendMany'
  },
  { ...messagesRead, path: '/v1/messages/{}', ...message, door: 'messages.track' },
  { ...messagesRead, path: '/v1/messages', door: 'messages.list', isList: 'cursor' },
  { ...messagesRead, path: '/v1/messages/metrics', door: 'messages.metrics' },
  {
    method: 'POST',
    path: '/v1/messages/{}/renotify',
    permission: 'messages:send',
    ...message,
    success: 200,
    door: 'messages.renotify'
  },
  {
    method: 'POST',
    path: '/v1/messages/renotify',
    permission: 'messages:send',
    query: { from: '2025-02-01T00:00:00Z', to: '2025-02-08T00:00:00Z' },
    success: 200,
    door: 'messages.renotifyMany'
  },
  { ...messagesRead, path: '/v1/templates', door: 'templates.list', isList: 'cursor' },
  {
    ...write,
    method: 'PUT',
    path: '/v1/templates',
    body: { name: 'order_shipped', language: 'en', body: 'Order {{1}}', header: 'Hello', footer: 'The shop' },
    required: ['name', 'language', 'body'],
    door: 'templates.save'
  },
  {
    ...write,
    method: 'DELETE',
    path: '/v1/templates/{}',
    notFound: 'resource_not_found',
    success: 204,
    door: 'templates.remove'
  },
  {
    method: 'POST',
    path: '/v1/erasure',
    permission: 'compliance:write',
    body: { contact: '5511987654321' },
    required: ['contact'],
    success: 200,
    door: 'erasure.erase'
  },
  {
    method: 'POST',
    path: '/v1/compliance/risk-acceptances',
    permission: 'compliance:write',
    body: { track: 'unofficial', termsVersion: 'unofficial-v1' },
    required: ['track', 'termsVersion'],
    success: 201,
    door: 'risks.accept'
  },
  { ...read, path: '/v1/compliance/risk-acceptances', door: 'risks.list' },
  {
    method: 'POST',
    path: '/v1/channels',
    permission: 'channels:write',
    body: {
      provider: 'official_platform',
      kind: 'official',
      label: 'Shop',
      credentials: { phoneNumberId: '1001', wabaId: '2002', accessToken: 'token' }
    },
    required: ['provider', 'kind', 'credentials'],
    success: 201,
    door: 'channels.createOfficial'
  },
  { ...read, path: '/v1/channels', door: 'channels.list', isList: 'cursor' },
  { ...read, path: '/v1/channels/{}', ...channel, door: 'channels.read' },
  { ...read, path: '/v1/channels/{}/events', ...channel, door: 'channels.audit', isList: 'before' },
  {
    ...write,
    method: 'PATCH',
    path: '/v1/channels/{}',
    ...channel,
    body: { label: 'New' },
    required: ['label'],
    door: 'channels.rename'
  },
  { ...write, method: 'DELETE', path: '/v1/channels/{}', ...channel, door: 'channels.remove' },
  { ...write, method: 'POST', path: '/v1/channels/{}/disconnect', ...channel, door: 'channels.disconnect' },
  {
    ...write,
    method: 'POST',
    path: '/v1/channels/{}/limited/release',
    ...channel,
    body: { riskAcceptance: { termsVersion: 'limited-release-v1' } },
    required: [],
    door: 'channels.releaseLimit'
  },
  {
    ...write,
    method: 'POST',
    path: '/v1/channels/{}/quarantine/release',
    ...channel,
    body: { reason: 'checked by hand' },
    required: [],
    bodyOptional: true,
    door: 'channels.releaseQuarantine'
  },
  {
    ...write,
    method: 'POST',
    path: '/v1/channels/{}/credentials',
    ...channel,
    body: { accessToken: 'token', platformAppId: '42', platformAppSecret: 'secret' },
    required: ['accessToken'],
    door: 'channels.rotateCredentials'
  },
  {
    ...write,
    method: 'POST',
    path: '/v1/channels/connect',
    body: { label: 'Desk', riskAcceptance: { termsVersion: 'unofficial-v1' } },
    required: [],
    success: 201,
    door: 'attempts.start'
  },
  { ...read, path: '/v1/channels/connect/{}', ...attempt, door: 'attempts.poll' },
  { ...write, method: 'DELETE', path: '/v1/channels/connect/{}', ...attempt, door: 'attempts.cancel' },
  {
    method: 'POST',
    path: '/v1/webhooks/destinations',
    permission: 'webhooks:write',
    body: { url: 'https://receiver.example/hook' },
    required: ['url'],
    success: 201,
    door: 'webhooks.createDestination'
  },
  { ...hooks, method: 'GET', path: '/v1/webhooks/destinations', door: 'webhooks.destinations' },
  { ...hooks, method: 'GET', path: '/v1/webhooks/destinations/{}', ...destination, door: 'webhooks.destination' },
  {
    method: 'DELETE',
    path: '/v1/webhooks/destinations/{}',
    permission: 'webhooks:write',
    ...destination,
    success: 204,
    door: 'webhooks.removeDestination'
  },
  { ...hooks, method: 'GET', path: '/v1/webhooks/deliveries', door: 'webhooks.deliveries', isList: 'cursor' },
  {
    method: 'POST',
    path: '/v1/webhooks/deliveries/{}/retry',
    permission: 'webhooks:write',
    prefix: 'dlv',
    notFound: 'resource_not_found',
    success: 200,
    door: 'webhooks.retryDelivery'
  },
  {
    method: 'POST',
    path: '/v1/keys',
    permission: 'keys:write',
    body: { name: 'second', permissions: ['keys:write'] },
    required: ['name'],
    success: 201,
    door: 'keys.create'
  },
  { method: 'GET', path: '/v1/keys', permission: 'keys:write', success: 200, door: 'keys.list' },
  {
    method: 'DELETE',
    path: '/v1/keys/{}',
    permission: 'keys:write',
    prefix: 'key',
    notFound: 'resource_not_found',
    success: 204,
    door: 'keys.revoke'
  }
]

export const nameOf = (route: Route): string => `${route.method} ${route.path}`
export const addressOf = (route: Route, fill = '0'): string => {
  const path = route.path.replace('{}', id(route.prefix ?? '', fill))
  return route.query === undefined ? path : `${path}?${new URLSearchParams(route.query)}`
}
