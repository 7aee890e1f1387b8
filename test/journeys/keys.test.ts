/** API keys (decisions §2): what each permission opens, and how a key ends: by its time, by a revocation. */
import t from 'tap'
import { askService } from '../../src/cli/ask-service.ts'
import { PERMISSIONS, type Permission } from '../../src/domain/tenant.ts'
import { eventually } from '../support/eventually.ts'
import { createTenant, someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

type Key = { id: string; apiKey: string; permissions: Permission[]; expiresAt: string | null; lastFour: string }
type Answer<B> = { status: number; body: B }

const world = await startWorld(t)
const issued = await askService(world.dataDir, {
  command: 'keys create',
  tenant: 'acme',
  key: { name: 'admin', permissions: [...PERMISSIONS] }
})
if (!issued?.ok) throw new Error('no key')
const admin = createTenant(world.url, issued.value as { tenantId: string; apiKey: string })
const channel = await admin.officialNumber(world.official)
const { messageId } = await admin.send(channel.id)

const create = (body: object): Promise<Answer<Key>> => admin.ask<Key>('POST', '/v1/keys', body)
const holder = (apiKey: string) => createTenant(world.url, { tenantId: admin.tenantId, apiKey })
const DAY_MS = 86_400_000
const window = `from=${new Date(Date.now() - DAY_MS).toISOString()}&to=${new Date(Date.now() + DAY_MS).toISOString()}`
const UNKNOWN = 'ch_00000000000000000000000000'

/** One request for each permission, allowed with it and 403 without. */
const OPENS: readonly (readonly [Permission, string, string, object?])[] = [
  [
    'messages:send',
    'POST',
    `/v1/channels/${channel.id}/messages`,
    { to: someone(), content: { kind: 'text', text: 'a' }, idempotencyKey: 'permitted' }
  ],
  ['messages:send', 'POST', `/v1/messages/renotify?${window}`],
  ['messages:read', 'GET', `/v1/messages/${messageId}`],
  ['messages:read', 'GET', '/v1/messages/metrics'],
  ['messages:read', 'GET', '/v1/templates'],
  ['channels:read', 'GET', `/v1/channels/${channel.id}/events`],
  ['channels:read', 'GET', '/v1/compliance/risk-acceptances'],
  ['channels:write', 'PATCH', `/v1/channels/${channel.id}`, { label: 'Shop' }],
  ['channels:write', 'PUT', '/v1/templates', { name: 'visit', language: 'en', body: 'Hello' }],
  ['webhooks:read', 'GET', '/v1/webhooks/deliveries'],
  ['webhooks:write', 'POST', '/v1/webhooks/destinations', { url: 'http://127.0.0.1:9/' }],
  ['compliance:write', 'POST', '/v1/erasure', { contact: someone() }],
  ['keys:write', 'GET', '/v1/keys']
]

t.test('a key opens what its permissions say, and nothing else', async t => {
  for (const permission of PERMISSIONS) {
    const made = await create({ name: permission, permissions: [permission] })
    t.match(made, { status: 201, body: { permissions: [permission], lastFour: made.body.apiKey.slice(-4) } })
    const key = holder(made.body.apiKey)
    for (const [needed, method, path, body] of OPENS) {
      const { status, body: answer } = await key.ask(method, path, body)
      if (needed === permission) t.ok(status < 300, `${permission}: ${method} ${path} answers ${status}`)
      else t.match([status, answer], [403, { error: { code: 'forbidden' } }], `${permission}: ${method} ${path}`)
    }
    // Permission comes before scope: nobody learns what exists.
    const stranger = await key.ask('GET', `/v1/channels/${UNKNOWN}`)
    t.equal(stranger.status, permission === 'channels:read' ? 404 : 403)
  }
})

t.test('a key grants no more than it has itself', async t => {
  const { body } = await create({ name: 'keeper', permissions: ['keys:write', 'messages:read'] })
  const keeper = holder(body.apiKey)
  const more = await keeper.ask('POST', '/v1/keys', { name: 'more', permissions: ['messages:send'] })
  t.match(more, { status: 403, body: { error: { code: 'forbidden' } } })
  t.equal((await keeper.ask('POST', '/v1/keys', { name: 'usual' })).status, 403, 'the usual ones are more than it has')
  const same = await keeper.ask('POST', '/v1/keys', { name: 'same', permissions: ['messages:read'] })
  t.match(same, { status: 201, body: { permissions: ['messages:read'] } })
})

t.test('a key ends at its time', async t => {
  const expiresAt = new Date(Date.now() + 1500).toISOString()
  const made = await create({ name: 'short', expiresAt })
  t.match(made, { status: 201, body: { expiresAt } })
  const key = holder(made.body.apiKey)
  t.equal((await key.ask('GET', '/v1/channels')).status, 200)
  const refused = await eventually('the end', async () => {
    const answer = await key.ask('GET', '/v1/channels')
    return answer.status !== 200 && answer
  })
  t.ok(Date.now() >= Date.parse(expiresAt), 'not before')
  t.match(refused, { status: 401, body: { error: { code: 'unauthorized' } } })
})

t.test('a revoked key is dead at once, and is not listed', async t => {
  const { body } = await create({ name: 'gone' })
  t.equal((await holder(body.apiKey).ask('GET', '/v1/channels')).status, 200)
  t.equal((await admin.ask('DELETE', `/v1/keys/${body.id}`)).status, 204)
  t.equal((await holder(body.apiKey).ask('GET', '/v1/channels')).status, 401)
  const { items } = (await admin.ask<{ items: Key[] }>('GET', '/v1/keys')).body
  t.notOk(items.some(item => item.id === body.id))
  t.notOk(
    items.some(item => 'apiKey' in item),
    'a key is shown once'
  )
  const others = await world.tenant('others')
  t.equal((await others.ask('DELETE', `/v1/keys/${body.id}`)).status, 403)
})
