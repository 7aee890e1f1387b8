/** The body of a send: every kind of content, at and beyond its limits. */
import t from 'tap'
import { assertRefusal, listen } from './listening.ts'
import { SEND_BODY } from './routes-table.ts'
import { id } from './stub-doors.ts'

const URL_OK = 'https://files.example/a.png'
const rows = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ id: `r${from + index}`, title: `Row ${from + index}` }))
const list = (...sections: readonly object[]) => ({
  kind: 'interactive',
  interactive: { type: 'list', body: 'Pick', buttonLabel: 'Menu', sections }
})
const buttons = (...items: readonly object[]) => ({
  kind: 'interactive',
  interactive: { type: 'buttons', body: 'Choose', buttons: items }
})
const media = (members: object) => ({ kind: 'media', media: 'image', url: URL_OK, ...members })
const template = (members: object) => ({ kind: 'template', name: 'hello', language: 'pt_BR', ...members })
const reaction = (members: object) => ({ kind: 'reaction', targetMessageId: id('msg'), emoji: '👍', ...members })
const text = (value: unknown) => ({ kind: 'text', text: value })
const withContent = (content: unknown) => ({ ...SEND_BODY, content })

const TAKEN: readonly (readonly [string, object])[] = [
  ['text of 4096 characters', withContent(text('x'.repeat(4096)))],
  ['text of 4096 emoji', withContent(text('😀'.repeat(4096)))],
  ['text with escapes and pairs', withContent(text('caf\u00e9 \ud83d\ude00'))],
  ['media', withContent(media({ filename: 'a.png', caption: 'c'.repeat(1024) }))],
  ['media over http with a port', withContent(media({ url: 'http://files.example:8080/a?b=c' }))],
  [
    'template with header text',
    withContent(template({ bodyParams: ['Ana'], headerText: 'Hi', buttonParams: ['', 'x'] }))
  ],
  ['template with header media', withContent(template({ headerMediaUrl: URL_OK }))],
  ['template alone', withContent(template({}))],
  ['three buttons', withContent(buttons(...['a', 'b', 'c'].map(name => ({ id: name, title: name.repeat(20) }))))],
  ['ten rows', withContent(list({ title: 'One', rows: rows(5) }, { title: 'Two', rows: rows(5, 5) }))],
  [
    'row with a description',
    withContent(list({ title: 'One', rows: [{ ...rows(1)[0], description: 'd'.repeat(72) }] }))
  ],
  ['reaction', withContent(reaction({}))],
  ['reaction taken back', withContent(reaction({ emoji: '' }))],
  ['family emoji', withContent(reaction({ emoji: '👨‍👩‍👧‍👦' }))],
  ['flag', withContent(reaction({ emoji: '🇧🇷' }))],
  ['heart without variation selector', withContent(reaction({ emoji: '❤' }))],
  ['keycap', withContent(reaction({ emoji: '1️⃣' }))],
  ['platform user id', { ...SEND_BODY, to: 'BR.Ab12' }],
  ['enterprise user id', { ...SEND_BODY, to: 'BR.ENT.Ab12' }],
  ['longest ttl', { ...SEND_BODY, ttlSeconds: 604_800 }],
  ['reply by id', { ...SEND_BODY, replyToProviderId: id('msg') }],
  ['reply by raw id', { ...SEND_BODY, replyToProviderId: 'wamid.HBgM==' }],
  ['20 metadata keys', { ...SEND_BODY, metadata: Object.fromEntries(rows(20).map(row => [row.id, 'v'])) }],
  [
    'metadata at its lengths',
    { ...SEND_BODY, metadata: { ['k'.repeat(64)]: 'v'.repeat(512), '': undefined, empty: '' } }
  ],
  ['metadata key constructor', { ...SEND_BODY, metadata: { constructor: 'x', toString: 'y' } }],
  ['no metadata', { ...SEND_BODY, metadata: undefined }]
]

const REFUSED: readonly (readonly [string, object, ...string[]])[] = [
  ['unknown kind', withContent({ kind: 'sticker' }), 'content.kind'],
  ['no kind', withContent({ text: 'x' }), 'content.kind'],
  ['kind __proto__', withContent({ kind: '__proto__' }), 'content.kind'],
  ['content null', withContent(null), 'content'],
  ['content a list', withContent([]), 'content'],
  ['text of 4097', withContent(text('x'.repeat(4097))), 'content.text'],
  ['text empty', withContent(text('')), 'content.text'],
  ['text a number', withContent(text(5)), 'content.text'],
  ['text with NUL', withContent(text('a\0b')), 'content.text'],
  ['text of another kind beside', withContent({ ...text('x'), url: URL_OK }), 'content.url'],
  ['media kind unknown', withContent(media({ media: 'gif' })), 'content.media'],
  ['media by ftp', withContent(media({ url: 'ftp://files.example/a' })), 'content.url'],
  ['media by script', withContent(media({ url: 'javascript:alert(1)' })), 'content.url'],
  ['media with user-info', withContent(media({ url: 'https://a:b@files.example/' })), 'content.url'],
  ['media without url', withContent({ kind: 'media', media: 'image' }), 'content.url'],
  ['url too long', withContent(media({ url: `${URL_OK}?${'x'.repeat(2048)}` })), 'content.url'],
  ['caption of 1025', withContent(media({ caption: 'c'.repeat(1025) })), 'content.caption'],
  ['empty bodyParams', withContent(template({ bodyParams: [] })), 'content.bodyParams'],
  ['bodyParams with a number', withContent(template({ bodyParams: ['a', 1] })), 'content.bodyParams[1]'],
  ['both headers', withContent(template({ headerText: 'x', headerMediaUrl: URL_OK })), 'content.headerMediaUrl'],
  ['template parameter outside', { ...SEND_BODY, bodyParams: ['a'] }, 'bodyParams'],
  ['language malformed', withContent(template({ language: 'p' })), 'content.language'],
  ['no buttons', withContent(buttons()), 'content.interactive.buttons'],
  ['four buttons', withContent(buttons(...rows(4))), 'content.interactive.buttons'],
  [
    'button title of 21',
    withContent(buttons({ id: 'a', title: 'x'.repeat(21) })),
    'content.interactive.buttons[0].title'
  ],
  ['button id of 257', withContent(buttons({ id: 'a'.repeat(257), title: 'x' })), 'content.interactive.buttons[0].id'],
  [
    'button ids alike',
    withContent(buttons({ id: 'a', title: 'x' }, { id: 'a', title: 'y' })),
    'content.interactive.buttons'
  ],
  [
    'eleven rows in all',
    withContent(list({ title: 'One', rows: rows(6) }, { title: 'Two', rows: rows(5, 6) })),
    'content.interactive.sections'
  ],
  [
    'row title of 25',
    withContent(list({ title: 'One', rows: [{ id: 'r', title: 'x'.repeat(25) }] })),
    'content.interactive.sections[0].rows[0].title'
  ],
  [
    'row description of 73',
    withContent(list({ title: 'One', rows: [{ id: 'r', title: 'x', description: 'x'.repeat(73) }] })),
    'content.interactive.sections[0].rows[0].description'
  ],
  ['section without title', withContent(list({ rows: rows(1) })), 'content.interactive.sections[0].title'],
  [
    'interactive of an unknown type',
    withContent({ kind: 'interactive', interactive: { type: 'form' } }),
    'content.interactive.type'
  ],
  ['reaction without target', withContent({ kind: 'reaction', emoji: '👍' }), 'content.targetMessageId'],
  ['reaction to a raw id', withContent(reaction({ targetMessageId: 'wamid.X' })), 'content.targetMessageId'],
  ['two emoji', withContent(reaction({ emoji: '👍👍' })), 'content.emoji'],
  ['a letter as emoji', withContent(reaction({ emoji: 'a' })), 'content.emoji'],
  ['a digit as emoji', withContent(reaction({ emoji: '1' })), 'content.emoji'],
  [
    'two targets',
    withContent(reaction({ targetProviderMessageId: id('msg', '1') })),
    'content.targetProviderMessageId'
  ],
  ['to with a plus', { ...SEND_BODY, to: '+5511987654321' }, 'to'],
  ['to beginning with 0', { ...SEND_BODY, to: '0511987654321' }, 'to'],
  ['to of 7 digits', { ...SEND_BODY, to: '5511987' }, 'to'],
  ['to of 16 digits', { ...SEND_BODY, to: '5511987654321000' }, 'to'],
  ['to a number', { ...SEND_BODY, to: 5511987654321 }, 'to'],
  ['to with a line feed', { ...SEND_BODY, to: '5511987654321\n' }, 'to'],
  ['to in other digits', { ...SEND_BODY, to: '٥٥١١٩٨٧٦٥٤٣' }, 'to'],
  ['user id malformed', { ...SEND_BODY, to: 'BR.a-b' }, 'to'],
  ['idempotencyKey empty', { ...SEND_BODY, idempotencyKey: '' }, 'idempotencyKey'],
  ['idempotencyKey of 129', { ...SEND_BODY, idempotencyKey: 'k'.repeat(129) }, 'idempotencyKey'],
  ['ttl as text', { ...SEND_BODY, ttlSeconds: '60' }, 'ttlSeconds'],
  ['ttl 0', { ...SEND_BODY, ttlSeconds: 0 }, 'ttlSeconds'],
  ['ttl broken', { ...SEND_BODY, ttlSeconds: 1.5 }, 'ttlSeconds'],
  ['ttl beyond a week', { ...SEND_BODY, ttlSeconds: 604_801 }, 'ttlSeconds'],
  ['ttl null', { ...SEND_BODY, ttlSeconds: null }, 'ttlSeconds'],
  ['21 metadata keys', { ...SEND_BODY, metadata: Object.fromEntries(rows(21).map(row => [row.id, 'v'])) }, 'metadata'],
  ['metadata value a number', { ...SEND_BODY, metadata: { a: 1 } }, 'metadata.a'],
  ['metadata nested', { ...SEND_BODY, metadata: { a: {} } }, 'metadata.a'],
  ['metadata value of 513', { ...SEND_BODY, metadata: { a: 'v'.repeat(513) } }, 'metadata.a'],
  ['metadata key of 65', { ...SEND_BODY, metadata: { ['k'.repeat(65)]: 'v' } }, `metadata.${'k'.repeat(65)}`],
  [
    'metadata beyond 4096 bytes',
    { ...SEND_BODY, metadata: Object.fromEntries(rows(9).map(row => [row.id, 'v'.repeat(500)])) },
    'metadata'
  ],
  ['metadata key __proto__', { ...SEND_BODY, metadata: JSON.parse('{"__proto__":"x"}') }, 'metadata.__proto__'],
  ['metadata a list', { ...SEND_BODY, metadata: [] }, 'metadata']
]

const path = `/v1/channels/${id('ch')}/messages`

t.test('taken', async t => {
  const { stub, ask } = await listen(t)
  for (const [name, body] of TAKEN) {
    stub.calls.length = 0
    const answer = await ask({ method: 'POST', path, body })
    t.equal(answer.status, 202, `${name}: ${answer.text}`)
    t.strictSame(
      stub.calls[0]?.args.slice(1),
      [id('ch'), JSON.parse(JSON.stringify(body))],
      `${name} is handed on as it is`
    )
  }
})

t.test('refused', async t => {
  const { stub, ask } = await listen(t)
  for (const [name, body, ...paths] of REFUSED) {
    const answer = await ask({ method: 'POST', path, body })
    t.test(name, async t => assertRefusal(t, answer, 422, 'validation_failed', paths))
  }
  t.strictSame(stub.calls, [], 'no door is knocked at')
})

t.test('a lone surrogate in a text', async t => {
  const { ask } = await listen(t)
  const body = JSON.stringify(withContent(text('?'))).replace('?', '\\udc00')
  assertRefusal(t, await ask({ method: 'POST', path, body }), 422, 'validation_failed', ['content.text'])
})

t.test('of duplicate keys the last one counts', async t => {
  const { stub, ask } = await listen(t)
  const body = JSON.stringify(SEND_BODY).replace('{', '{"to":"not a number","idempotencyKey":"first",')
  const answer = await ask({ method: 'POST', path, body })
  t.match(answer, { status: 202, json: { idempotencyKey: 'order-1' } })
  t.match(stub.calls[0]?.args[2], { to: SEND_BODY.to, idempotencyKey: 'order-1' })
})

t.test('the deprecated name of a reaction target is renamed', async t => {
  const { stub, ask } = await listen(t)
  const content = { kind: 'reaction', targetProviderMessageId: id('msg'), emoji: '👍' }
  t.equal((await ask({ method: 'POST', path, body: withContent(content) })).status, 202)
  t.match(stub.calls[0]?.args[2], { content: { kind: 'reaction', targetMessageId: id('msg'), emoji: '👍' } })
  const sent = stub.calls[0]?.args[2] as { content: object }
  t.notOk('targetProviderMessageId' in sent.content)
})

t.test('problems are listed up to a number', async t => {
  const { ask } = await listen(t)
  const extras = Object.fromEntries(rows(500).map(row => [row.id, 1]))
  const answer = await ask({ method: 'POST', path, body: { ...SEND_BODY, ...extras } })
  t.match(answer, { status: 422, json: { error: { details: { length: 20 } } } })
})

t.test('the channel may be named by its number', async t => {
  const { stub, ask } = await listen(t)
  t.equal((await ask({ method: 'POST', path: '/v1/channels/5511987654321/messages', body: SEND_BODY })).status, 202)
  t.equal(stub.calls[0]?.args[1], '5511987654321')
})
