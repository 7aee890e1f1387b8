/** The body of a batch: all of it or nothing, named by position, and never in the way of others. */
import t from 'tap'
import { createSlices } from '../../src/actors/slices.ts'
import { checkBatch } from '../../src/http/batch-body.ts'
import { assertRefusal, listen } from './listening.ts'
import { SEND_BODY } from './routes-table.ts'
import { id } from './stub-doors.ts'

const path = `/v1/channels/${id('ch')}/messages/batch`
const item = (index: number, more: object = {}) => ({ ...SEND_BODY, idempotencyKey: `key-${index}`, ...more })
const items = (count: number) => Array.from({ length: count }, (_, index) => item(index))
const content = (value: object) => item(0, { content: value })
const template = (more: object) => content({ kind: 'template', name: 'hello', language: 'en', ...more })

t.test('outcomes stand in the order of the items, refusals in their places', async t => {
  const { stub, ask } = await listen(t)
  const codes = ['channel_limited', 'channel_quarantined', 'channel_restricted', 'channel_disconnected', 'overloaded']
  stub.once('messages.sendMany', () => ({
    ok: true,
    value: [
      { ok: true, value: { messageId: id('msg'), idempotent: false, traceId: id('tr') } },
      { ok: true, value: { messageId: id('msg'), idempotent: true, traceId: id('tr') } },
      ...codes.map(code => ({ ok: false, code })),
      { ok: false, code: 'made_up' }
    ]
  }))
  const answer = await ask({ method: 'POST', path, body: { messages: items(8) } })
  t.equal(answer.status, 202)
  t.strictSame(answer.json, {
    results: [
      { idempotencyKey: 'key-0', index: 0, messageId: id('msg'), status: 'accepted' },
      { idempotencyKey: 'key-1', index: 1, messageId: id('msg'), status: 'accepted' },
      ...codes.map((code, at) => ({ idempotencyKey: `key-${at + 2}`, index: at + 2, error: { code } })),
      { idempotencyKey: 'key-7', index: 7, error: { code: 'internal_error' } }
    ]
  })
})

t.test('kinds may be mixed, each item keeps its own members, names are normalised', async t => {
  const { stub, ask } = await listen(t)
  const messages = [
    item(0, { metadata: { a: '1' }, ttlSeconds: 60, replyToProviderId: id('msg') }),
    item(1, { content: { kind: 'media', media: 'image', url: 'https://files.example/a.png' }, metadata: { b: '2' } }),
    item(2, { content: { kind: 'template', name: 'hello', language: 'en', bodyParams: ['Ana'] } }),
    item(3, { content: { kind: 'reaction', targetProviderMessageId: id('msg'), emoji: '👍' } })
  ]
  t.equal((await ask({ method: 'POST', path, body: { messages } })).status, 202)
  const reaction = { ...messages[3], content: { kind: 'reaction', targetMessageId: id('msg'), emoji: '👍' } }
  t.strictSame(stub.calls[0]?.args.slice(1), [id('ch'), [...messages.slice(0, 3), reaction]])
})

t.test('the number in place of the id, and what is no channel', async t => {
  const { stub, ask } = await listen(t)
  const body = { messages: items(1) }
  t.equal((await ask({ method: 'POST', path: '/v1/channels/5511987654321/messages/batch', body })).status, 202)
  t.equal(stub.calls[0]?.args[1], '5511987654321')
  const malformed = await ask({ method: 'POST', path: '/v1/channels/xyz/messages/batch', body: { messages: [{}] } })
  assertRefusal(t, malformed, 422, 'validation_failed', [
    'messages[0].to',
    'messages[0].content',
    'messages[0].idempotencyKey'
  ])
})

const REFUSED: readonly (readonly [string, unknown, ...string[]])[] = [
  ['without content', { to: SEND_BODY.to, idempotencyKey: 'k' }, 'content'],
  ['empty text', content({ kind: 'text', text: '' }), 'content.text'],
  ['empty bodyParams', template({ bodyParams: [] }), 'content.bodyParams'],
  [
    'both headers',
    template({ headerText: 'x', headerMediaUrl: 'https://files.example/a.png' }),
    'content.headerMediaUrl'
  ],
  ['a template parameter outside its content', item(0, { bodyParams: ['x'] }), 'bodyParams'],
  ['unknown property', item(0, { extra: 1 }), 'extra'],
  ['metadata over its limit', item(0, { metadata: { a: 'v'.repeat(513) } }), 'metadata.a'],
  ['NUL in a text', content({ kind: 'text', text: 'a\0b' }), 'content.text'],
  ['null', null, ''],
  ['a list', [], ''],
  ['a string', 'x', ''],
  [
    'more values than any message has',
    item(0, { metadata: Object.fromEntries(items(600).map((_, at) => [at, 'v'])) }),
    ''
  ]
]

t.test('the first malformed item refuses all of it, named by its position', async t => {
  const { stub, ask } = await listen(t)
  for (const [name, wrong, ...paths] of REFUSED) {
    const messages = [...items(3), wrong, { also: 'wrong' }]
    const answer = await ask({ method: 'POST', path, body: { messages } })
    t.test(name, async t => {
      const expected = paths.map(one => (one === '' ? 'messages[3]' : `messages[3].${one}`))
      assertRefusal(t, answer, 422, 'validation_failed', expected)
      const { error } = answer.json as { error: { details: { message: string }[] } }
      for (const { message } of error.details) t.match(message, /^item 4: \w/)
    })
  }
  const lone = JSON.stringify({ messages: [...items(1), content({ kind: 'text', text: '?' })] }).replace('?', '\\udc00')
  assertRefusal(t, await ask({ method: 'POST', path, body: lone }), 422, 'validation_failed', [
    'messages[1].content.text'
  ])
  const proto = JSON.stringify({ messages: [item(0, { metadata: { p: 'x' } })] }).replace('"p"', '"__proto__"')
  const answer = await ask({ method: 'POST', path, body: proto })
  assertRefusal(t, answer, 422, 'validation_failed', ['messages[0].metadata.__proto__'])
  t.strictSame(stub.calls, [], 'nothing was sent')
})

t.test('how many', async t => {
  const { stub, ask } = await listen(t)
  const send = (count: number) => ask({ method: 'POST', path, body: { messages: items(count) } })
  const full = await send(2000)
  t.equal(full.status, 202)
  t.equal((full.json.results as object[]).length, 2000)
  t.match((full.json.results as object[])[1999], { idempotencyKey: 'key-1999', index: 1999, messageId: id('msg', '9') })
  stub.calls.length = 0
  assertRefusal(t, await send(2001), 422, 'validation_failed', ['messages'])
  assertRefusal(t, await send(0), 422, 'validation_failed', ['messages'])
  t.strictSame(stub.calls, [])
})

t.test('how large: 512 KB here, 64 KB elsewhere', async t => {
  const { ask } = await listen(t)
  const padded = (bytes: number): string => {
    const text = JSON.stringify({ messages: items(1) })
    return text + ' '.repeat(bytes - text.length)
  }
  t.equal((await ask({ method: 'POST', path, body: padded(512 * 1024) })).status, 202)
  assertRefusal(t, await ask({ method: 'POST', path, body: padded(512 * 1024 + 1) }), 413, 'payload_too_large')
  const single = { method: 'POST', path: `/v1/channels/${id('ch')}/messages` }
  const large = await ask({ ...single, body: JSON.stringify(SEND_BODY) + ' '.repeat(64 * 1024) })
  assertRefusal(t, large, 413, 'payload_too_large')
})

t.test('others have their turn while a full batch is checked', async t => {
  const text = 'a text that fills its share \u00e9'.repeat(4)
  const messages = items(2000).map(one => ({ ...one, content: { kind: 'text', text } }))
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const checked = await checkBatch({ messages }, createSlices(2).next)
  isDone = true
  t.strictSame(checked, messages)
  // Checked in one go, not a single one would go by.
  t.ok(turns >= 2, `${turns} turns went by`)
})
