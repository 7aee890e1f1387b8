/** Rules of sending, batches, the list, metrics and renotify, one row a rule (channel-service, Endpoints: Messages). */
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t)
const { official, unofficial } = world
const tenant = await world.tenant('acme')
const other = await world.tenant('globex')
const channel = await tenant.officialNumber(official)
const paired = await tenant.unofficialNumber(unofficial, '5511955550003')
await tenant.receiver(t)

type Failure = { error: { code: string; details?: { path: string; message: string }[] } }
type Result = { idempotencyKey: string; index: number; messageId?: string; status?: string; error?: { code: string } }
let keys = 0
const item = (more: object = {}) => ({
  to: someone(),
  content: { kind: 'text', text: 'Hi' },
  idempotencyKey: `rules-${++keys}`,
  ...more
})
const post = (body: object, ref = channel.id) =>
  tenant.ask<{ messageId: string } & Failure>('POST', `/v1/channels/${ref}/messages`, body)
const batch = (messages: unknown[], ref = channel.id, more: object = {}) =>
  tenant.ask<{ results: Result[] } & Failure>('POST', `/v1/channels/${ref}/messages/batch`, { messages, ...more })
const template = (more: object) => ({ content: { kind: 'template', name: 'x', language: 'en', ...more } })
const reaction = (more: object) => ({ content: { kind: 'reaction', emoji: '👍', ...more } })
const buttons = (list: object[]) => ({
  content: { kind: 'interactive', interactive: { type: 'buttons', body: 'b', buttons: list } }
})
const rows = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `r${n}`, title: `Row ${n}` }))
const list = (sections: object[]) => ({
  content: { kind: 'interactive', interactive: { type: 'list', body: 'b', buttonLabel: 'Open', sections } }
})
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']))

/** Rule, what is wrong with an otherwise right send, where the answer must point. */
const MALFORMED: readonly (readonly [string, object, string])[] = [
  ['strict body: unknown property', { extra: 1 }, 'extra'],
  [
    'strict content: unknown property',
    { content: { kind: 'text', text: 'a', bodyParams: ['x'] } },
    'content.bodyParams'
  ],
  ['content.kind selects the shape', { content: { kind: 'poem', text: 'a' } }, 'content.kind'],
  ['text: 1..4096, empty', { content: { kind: 'text', text: '' } }, 'content.text'],
  ['text: 1..4096, too long', { content: { kind: 'text', text: 'a'.repeat(4097) } }, 'content.text'],
  [
    'caption: at most 1024',
    { content: { kind: 'media', media: 'image', url: 'https://a.example/a.png', caption: 'a'.repeat(1025) } },
    'content.caption'
  ],
  ['media.url: http(s)', { content: { kind: 'media', media: 'image', url: 'ftp://a.example/a.png' } }, 'content.url'],
  [
    'media of image, video, audio or document',
    { content: { kind: 'media', media: 'sticker', url: 'https://a.example/a' } },
    'content.media'
  ],
  ['bodyParams must not be empty when present', template({ bodyParams: [] }), 'content.bodyParams'],
  [
    'headerMediaUrl not together with headerText',
    template({ headerText: 'a', headerMediaUrl: 'https://a.example/a.png' }),
    'content.headerMediaUrl'
  ],
  ['buttons: 1..3, none', buttons([]), 'content.interactive.buttons'],
  ['buttons: 1..3, four', buttons(rows(4)), 'content.interactive.buttons'],
  ['button title 1..20', buttons([{ id: 'a', title: 'a'.repeat(21) }]), 'content.interactive.buttons[0].title'],
  ['button id at most 256', buttons([{ id: 'a'.repeat(257), title: 'a' }]), 'content.interactive.buttons[0].id'],
  [
    'list: 10 rows in all',
    list([
      { title: 'a', rows: rows(6) },
      { title: 'b', rows: rows(6) }
    ]),
    'content.interactive.sections'
  ],
  [
    'list: row title at most 24',
    list([{ title: 'a', rows: [{ id: 'a', title: 'a'.repeat(25) }] }]),
    'content.interactive.sections[0].rows[0].title'
  ],
  [
    'list: description at most 72',
    list([{ title: 'a', rows: [{ id: 'a', title: 'a', description: 'a'.repeat(73) }] }]),
    'content.interactive.sections[0].rows[0].description'
  ],
  ['reaction needs a target', reaction({}), 'content.targetMessageId'],
  ['reaction target is a msg_ id', reaction({ targetMessageId: 'wamid.x' }), 'content.targetMessageId'],
  [
    'reaction is one emoji',
    { content: { kind: 'reaction', targetMessageId: `msg_${'0'.repeat(26)}`, emoji: 'ab' } },
    'content.emoji'
  ],
  ['to: 8..15 digits', { to: '1234567' }, 'to'],
  ['to: first not 0', { to: '0123456789' }, 'to'],
  ['to: no plus', { to: '+5511987654321' }, 'to'],
  ['idempotencyKey: 1..128', { idempotencyKey: 'a'.repeat(129) }, 'idempotencyKey'],
  ['idempotencyKey is required', { idempotencyKey: undefined }, 'idempotencyKey'],
  ['ttlSeconds: 1..604800, 0', { ttlSeconds: 0 }, 'ttlSeconds'],
  ['ttlSeconds: 1..604800, above', { ttlSeconds: 604_801 }, 'ttlSeconds'],
  ['ttlSeconds: integer', { ttlSeconds: 1.5 }, 'ttlSeconds'],
  ['ttlSeconds: no text', { ttlSeconds: '5' }, 'ttlSeconds'],
  ['metadata keys: at most 20', { metadata: many(21) }, 'metadata'],
  ['metadata key: at most 64', { metadata: { ['a'.repeat(65)]: 'v' } }, 'metadata'],
  ['metadata value: at most 512', { metadata: { a: 'a'.repeat(513) } }, 'metadata.a'],
  [
    'metadata: 4096 bytes',
    { metadata: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`k${n}`, 'a'.repeat(500)])) },
    'metadata'
  ],
  ['metadata: text only', { metadata: { a: 1 } }, 'metadata.a'],
  ['NUL in a text', { content: { kind: 'text', text: 'a\0b' } }, 'content.text'],
  ['lone surrogate in a text', { content: { kind: 'text', text: 'a\ud800b' } }, 'content.text']
]

t.test('Messages, send and batch: what is malformed is 422, says where, and leaves nothing', async t => {
  const before = await tenant.ask<{ items: unknown[] }>('GET', '/v1/messages?limit=100')
  for (const [rule, more, path] of MALFORMED) {
    const alone = await post(item(more))
    t.match(alone, { status: 422, body: { error: { code: 'validation_failed' } } }, `${rule}: alone`)
    const paths = (alone.body.error?.details ?? []).map(detail => detail.path)
    t.ok(
      paths.some(one => one.startsWith(path)),
      `${rule}: points at ${path}, not ${paths}`
    )
    const amid = await batch([item(), item(more), item()])
    t.match(amid, { status: 422, body: { error: { code: 'validation_failed' } } }, `${rule}: in a batch`)
    const [detail] = amid.body.error.details ?? []
    t.ok(detail?.path.startsWith(`messages[1].${path}`), `${rule}: ${detail?.path}`)
    t.match(detail?.message, /^item 2:/, `${rule}: named by its place`)
  }
  const after = await tenant.ask<{ items: unknown[] }>('GET', '/v1/messages?limit=100')
  t.equal(after.body.items.length, before.body.items.length, 'nothing is sent')
})

t.test('Messages, batch: limits of the request', async t => {
  t.equal((await batch([])).status, 422, 'no items')
  t.equal((await batch([item()], channel.id, { content: {} })).status, 422, 'there is no shared content')
  t.equal((await batch(Array.from({ length: 2001 }, () => ({})))).status, 422, '2001 items')
  const large = await batch([item({ content: { kind: 'text', text: 'a'.repeat(4000) } }), 'x'.repeat(530_000)])
  t.match(large, { status: 413, body: { error: { code: 'payload_too_large' } } })
  const single = await post(item({ metadata: { a: 'x'.repeat(70_000) } }))
  t.match(single, { status: 413, body: { error: { code: 'payload_too_large' } } })
})

t.test('Messages, batch: results in the order of the items, mixed kinds, one key twice', async t => {
  const first = item()
  const twin = { ...item(), idempotencyKey: first.idempotencyKey }
  const gone = item(reaction({ targetMessageId: `msg_${'0'.repeat(26)}` }))
  const answer = await batch([first, gone, twin])
  t.equal(answer.status, 202)
  const [one, two, three] = answer.body.results
  t.same(one, { idempotencyKey: first.idempotencyKey, index: 0, messageId: one?.messageId, status: 'accepted' })
  t.match(two, { idempotencyKey: gone.idempotencyKey, index: 1, status: 'accepted' })
  t.match(three, { idempotencyKey: first.idempotencyKey, index: 2, messageId: one?.messageId, status: 'accepted' })
  t.match(await tenant.reaches(two?.messageId ?? '', 'failed'), { lastError: 'invalid_recipient' })
  await tenant.reaches(one?.messageId ?? '', 'read')
  t.equal(await official.timesAccepted(one?.messageId ?? ''), 1)
  const mixed = await batch([item(reaction({ targetMessageId: one?.messageId })), item()], paired.id)
  t.match(mixed.body.results, [
    { index: 0, error: { code: 'unsupported_capability' } },
    { index: 1, status: 'accepted' }
  ])
  t.notOk('messageId' in (mixed.body.results[0] ?? {}))
})

t.test('Messages, rule 1: the key decides, on a blocked number and with another body too', async t => {
  const mine = await tenant.officialNumber(official)
  const body = item()
  const first = await post(body, mine.id)
  await tenant.reaches(first.body.messageId, 'read')
  await tenant.ask('POST', `/v1/channels/${mine.id}/disconnect`)
  const again = await post({ ...item(), idempotencyKey: body.idempotencyKey }, mine.id)
  t.match(again, { status: 202, body: { messageId: first.body.messageId, idempotent: true, state: 'queued' } })
  t.match(await post(item(), mine.id), { status: 503, body: { error: { code: 'channel_disconnected' } } })
  const per = await batch([item(), { ...item(), idempotencyKey: body.idempotencyKey }], mine.id)
  t.match(per.body.results, [
    { error: { code: 'channel_disconnected' } },
    { messageId: first.body.messageId, status: 'accepted' }
  ])
  const elsewhere = await post({ ...item(), idempotencyKey: body.idempotencyKey }, channel.id)
  t.match(elsewhere.body, { messageId: first.body.messageId, idempotent: true }, 'uniqueness is per tenant')
  for (const ref of ['ch_01k00000000000000000000000', '5511999999999', 'nothing'])
    t.match(await post(body, ref), { status: 404, body: { error: { code: 'channel_not_found' } } }, ref)
})

t.test('Tenant scope: the same key is another message elsewhere, and what is not ours is 404', async t => {
  const body = item()
  const { messageId } = (await post(body)).body
  await tenant.reaches(messageId, 'read')
  const theirs = await other.officialNumber(official)
  const answer = await other.ask<{ messageId: string; idempotent: boolean }>(
    'POST',
    `/v1/channels/${theirs.id}/messages`,
    body
  )
  t.equal(answer.body.idempotent, false)
  t.not(answer.body.messageId, messageId)
  const rows404 = [
    ['GET', `/v1/messages/${messageId}`, 'resource_not_found'],
    ['POST', `/v1/messages/${messageId}/renotify`, 'resource_not_found'],
    ['POST', `/v1/channels/${channel.id}/messages`, 'channel_not_found'],
    ['POST', `/v1/channels/${channel.number}/messages`, 'channel_not_found'],
    ['GET', `/v1/channels/${channel.id}`, 'channel_not_found'],
    ['GET', `/v1/media/${paired.id}/${messageId}`, 'channel_not_found']
  ] as const
  for (const [method, path, code] of rows404) {
    const sends = path.endsWith('/messages')
    t.match(await other.ask(method, path, sends ? item() : undefined), { status: 404, body: { error: { code } } }, path)
  }
  const listed = await other.ask<{ items: { id: string }[] }>('GET', `/v1/messages?channelId=${channel.id}`)
  t.same(listed.body.items, [], 'nor in the list')
})

t.test('decisions §2: a key does only what it was given', async t => {
  const admin = await world.tenant('acme')
  t.equal((await admin.ask('GET', '/v1/keys')).status, 403, 'keys:write is not among the usual ones')
  const unknown = await fetch(`${world.url}/v1/messages`, { headers: { authorization: 'Bearer llk_x' } })
  t.equal(unknown.status, 401)
  t.equal(unknown.headers.get('www-authenticate'), 'Bearer')
})

t.test('webhook deliveries: the record field by field', async t => {
  type Deliveries = { items: Record<string, unknown>[]; nextCursor: string | null }
  const page = await eventually('a delivery', async () => {
    const { body } = await tenant.ask<Deliveries>('GET', '/v1/webhooks/deliveries?state=delivered&limit=5')
    return body.items.length === 5 && body
  })
  t.same(Object.keys(page.items[0] ?? {}).sort(), [
    'attempts',
    'createdAt',
    'deliveredAt',
    'destinationId',
    'eventId',
    'eventType',
    'id',
    'lastError',
    'lastStatus',
    'nextAttemptAt',
    'state'
  ])
  t.match(page.items[0], { id: /^dlv_/, eventId: /^evt_/, state: 'delivered', attempts: 1, lastStatus: 204 })
  const next = await tenant.ask<Deliveries>(
    'GET',
    `/v1/webhooks/deliveries?state=delivered&limit=5&cursor=${page.nextCursor}`
  )
  t.notOk(next.body.items.some(one => page.items.some(seen => seen.id === one.id)))
  const received = await tenant.ask<Deliveries>('GET', '/v1/webhooks/deliveries?eventType=message.status&limit=100')
  t.ok(received.body.items.length > 0 && received.body.items.every(one => one.eventType === 'message.status'))
  t.same((await other.ask<Deliveries>('GET', '/v1/webhooks/deliveries')).body.items, [])
  t.equal((await tenant.ask('GET', '/v1/webhooks/deliveries?state=lost')).status, 422)
})
