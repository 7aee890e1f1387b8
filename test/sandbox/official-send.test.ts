import t from 'tap'
import { PNID, startWorld, TOKEN, text, WABA } from './official-world.ts'

t.test('a text is accepted and followed by sent, delivered and read', async t => {
  const world = await startWorld(t)
  const sent = await world.send(text('msg_1'))
  t.equal(sent.status, 200)
  t.same(sent.body.contacts, [{ input: '+5511900000001', wa_id: '5511900000001' }])
  const { id } = sent.body.messages[0]
  const decoded = Buffer.from(id.slice('wamid.'.length), 'base64')
  t.same([...decoded.subarray(0, 3)], [0x1c, 0x18, 13])
  t.equal(decoded.subarray(3, 16).toString(), '5511900000001')
  await world.drained()
  const statuses = world.statuses('msg_1')
  t.same(
    statuses.map(status => [status.status, status.id, status.recipient_id]),
    ['sent', 'delivered', 'read'].map(status => [status, id, '5511900000001'])
  )
  t.match(statuses[0].pricing, { billable: true, pricing_model: 'PMP' })
  t.type(statuses[0].conversation.expiration_timestamp, 'string')
  t.equal(world.receiver.hooks.length, 3, 'each status comes in a webhook of its own')
  t.ok(world.receiver.hooks.every(hook => hook.signed))
  const counts = (await world.control('GET', 'sends?list=1')).body
  t.match(counts, { total: 1, accepted: 1, distinct: 1, byCallbackData: { msg_1: 1 } })
  t.match(counts.list, [
    { to: '+5511900000001', type: 'text', wamid: id, body: { text: { body: 'Olá https://example.com' } } }
  ])
})

const bodies: Record<string, Record<string, unknown>> = {
  image: { type: 'image', image: { link: 'https://cdn.example.com/a.jpg', caption: 'A' } },
  document: { type: 'document', document: { link: 'https://cdn.example.com/a.pdf', filename: 'a.pdf' } },
  location: { type: 'location', location: { latitude: -23.5, longitude: -46.6, name: 'Office' } },
  contacts: { type: 'contacts', contacts: [{ name: { formatted_name: 'Ana Lima', first_name: 'Ana' } }] },
  buttons: {
    type: 'interactive',
    interactive: {
      type: 'button',
      header: { type: 'text', text: 'Hi' },
      body: { text: 'Choose' },
      action: { buttons: [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }] }
    }
  },
  list: {
    type: 'interactive',
    interactive: {
      type: 'list',
      body: { text: 'x'.repeat(4096) },
      action: { button: 'Open', sections: [{ rows: [{ id: 'r1', title: 'Row 1' }] }] }
    }
  },
  link: {
    type: 'interactive',
    interactive: {
      type: 'cta_url',
      body: { text: 'Open it' },
      action: { name: 'cta_url', parameters: { display_text: 'Open', url: 'https://example.com' } }
    }
  }
}

t.test('every kind of content is accepted; a reaction gets no further than sent', async t => {
  const world = await startWorld(t)
  for (const [kind, body] of Object.entries(bodies)) t.equal((await world.send(body)).status, 200, kind)
  const target = (await world.send(text('msg_target'))).body.messages[0].id
  const reaction = {
    type: 'reaction',
    reaction: { message_id: target, emoji: '👍' },
    biz_opaque_callback_data: 'msg_r'
  }
  t.equal((await world.send(reaction)).status, 200)
  const lost = {
    ...reaction,
    reaction: { message_id: 'wamid.none', emoji: '👍' },
    biz_opaque_callback_data: 'msg_lost'
  }
  t.equal((await world.send(lost)).status, 200)
  const byUserId = { messaging_product: 'whatsapp', recipient: 'BR.13491208655302741918', ...text('msg_u') }
  t.same((await world.graph('POST', `${PNID}/messages`, byUserId)).body.contacts, [
    { input: 'BR.13491208655302741918', user_id: 'BR.13491208655302741918' }
  ])
  t.same(
    (
      await world.graph('POST', `${PNID}/messages`, {
        messaging_product: 'whatsapp',
        status: 'read',
        message_id: target
      })
    ).body,
    {
      success: true
    }
  )
  await world.drained()
  t.same(
    world.statuses('msg_r').map(status => status.status),
    ['sent']
  )
  t.match(world.statuses('msg_lost'), [{ status: 'failed', errors: [{ code: 131009 }] }])
  t.equal(world.statuses('msg_u')[0].recipient_user_id, 'BR.13491208655302741918')
})

const interactive = (content: Record<string, unknown>) => ({ type: 'interactive', interactive: content })
const reply = (id: string, title = id) => ({ type: 'reply', reply: { id, title } })
const buttons = (list: unknown[]) => interactive({ type: 'button', body: { text: 'b' }, action: { buttons: list } })
const refusals: [string, Record<string, unknown>, number][] = [
  ['no messaging product', { messaging_product: undefined, ...text('m') }, 100],
  ['no recipient', { to: undefined, ...text('m') }, 100],
  ['a recipient that is no phone', { to: 'abc', ...text('m') }, 131009],
  ['an unknown type', { type: 'poll', poll: {} }, 131051],
  ['no text', { type: 'text' }, 131008],
  ['a text that is too long', { type: 'text', text: { body: 'x'.repeat(4097) } }, 100],
  ['callback data that is too long', text('m'.repeat(513)), 100],
  ['a media object with id and link', { type: 'image', image: { id: '1', link: 'https://example.com' } }, 131009],
  ['media that does not exist', { type: 'image', image: { id: '1' } }, 131009],
  ['a caption on audio', { type: 'audio', audio: { link: 'https://example.com/a', caption: 'c' } }, 100],
  ['no buttons', buttons([]), 131009],
  ['four buttons', buttons(['a', 'b', 'c', 'd'].map(id => reply(id))), 131009],
  ['equal buttons', buttons([reply('a', 'same'), reply('b', 'same')]), 131009],
  ['a long button', buttons([reply('a', 'x'.repeat(21))]), 131009],
  [
    'context on a reaction',
    { type: 'reaction', reaction: { message_id: 'w', emoji: '' }, context: { message_id: 'w' } },
    131009
  ],
  ['a contact without a name', { type: 'contacts', contacts: [{ phones: [] }] }, 131008],
  ['a location off the globe', { type: 'location', location: { latitude: 91, longitude: 0 } }, 131009]
]

t.test('wrong bodies are refused with the code of the platform', async t => {
  const world = await startWorld(t)
  for (const [name, body, code] of refusals) {
    const { status, body: answer } = await world.send(body)
    t.equal(status, 400, name)
    t.equal(answer.error.code, code, name)
    t.match(answer.error, { type: 'OAuthException', fbtrace_id: String })
  }
  t.match((await world.control('GET', 'sends')).body, { total: refusals.length, accepted: 0, byCallbackData: {} })
})

t.test('token, object, permission and registration are checked before the body', async t => {
  const world = await startWorld(t)
  await world.control('POST', 'tokens', [
    { token: 'old', state: 'expired' },
    { token: 'gone', state: 'revoked' },
    { token: 'changed', state: 'password_changed' },
    { token: 'narrow', scopes: ['whatsapp_business_management'] },
    { token: 'elsewhere', wabas: ['999'] }
  ])
  await world.control('POST', 'numbers', { wabaId: WABA, id: '101', displayNumber: '+1 555', registered: false })
  const as = async (token: string | null, id = PNID) => {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` }
    const { status, body } = await world.graph('POST', `${id}/messages`, {}, headers)
    return [status, body.error.code, body.error.error_subcode]
  }
  t.same(await as(null), [401, 104, undefined])
  t.same(await as('garbage'), [401, 190, undefined])
  t.same(await as('old'), [401, 190, 463])
  t.same(await as('changed'), [401, 190, 460])
  t.same(await as('gone'), [401, 190, 467])
  t.same(await as('elsewhere'), [400, 100, 33])
  t.same(await as(TOKEN, '12345'), [400, 100, 33])
  t.same(await as('narrow'), [403, 10, undefined])
  t.same(await as(TOKEN, '101'), [400, 133010, undefined])
})

t.test('limits and late failures are switched on by settings', async t => {
  const world = await startWorld(t)
  const set = (settings: object) => world.control('POST', 'settings', settings)
  await set({ pairLimit: { burst: 2, everyMs: 60_000 } })
  const codes = []
  for (let n = 0; n < 3; n++) codes.push((await world.send(text(`p${n}`))).body.error?.code)
  t.same(codes, [undefined, undefined, 131056])
  t.equal((await world.send({ to: '+5511900000002', ...text('other') })).status, 200, 'another pair is free')
  await set({ pairLimit: false, throughputLimit: 1 })
  const burst = await Promise.all([1, 2, 3].map(n => world.send(text(`t${n}`))))
  t.ok(burst.some(answer => answer.body.error?.code === 130429))
  await set({ throughputLimit: null, unreachable: ['5511900000066'], enforceWindow: true })
  await world.send({ to: '5511900000066', ...text('nobody') })
  await world.send({ to: '5511900000000', ...text('self') })
  await world.send(text('closed'))
  await world.control('POST', 'inbound', { phoneNumberId: PNID, message: { type: 'text', text: { body: 'Oi' } } })
  await world.send(text('open'))
  await world.drained()
  const failure = (id: string) => world.statuses(id).map(status => status.errors?.[0].code ?? status.status)
  t.same(failure('nobody'), [131026])
  t.same(failure('self'), [131021])
  t.same(failure('closed'), [131047])
  t.same(failure('open'), ['sent', 'delivered', 'read'])
  await set({ acceptUnknownQuote: false })
  t.equal((await world.send(text('q', { context: { message_id: 'wamid.none' } }))).body.error.code, 131009)
  t.equal((await set({ delayMs: {} })).status, 400, 'a misspelt setting is refused')
})
