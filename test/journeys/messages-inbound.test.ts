/** Every kind of inbound message of both platforms becomes its `message.received` (channel-service, Events; decisions §5). */
import t from 'tap'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t)
const { official, unofficial } = world
const tenant = await world.tenant('acme')
const native = await tenant.officialNumber(official)
const paired = await tenant.unofficialNumber(unofficial, '5511955550002')
const hooks = await tenant.receiver(t)
const MSG = /^msg_[0-9a-hjkmnp-tv-z]{26}$/
const FILE = { kind: 'media', mediaId: MSG }

/** The event that the person's message became. */
async function heard(from: string) {
  const { event } = await hooks.got(
    'message.received',
    one => one.type === 'message.received' && one.data.from === from
  )
  return event
}
const fromOfficial = (from: string, message: object, more: object = {}) =>
  official.inbound({ phoneNumberId: native.phoneNumberId, from, message, ...more })
const fromUnofficial = (from: string, message: object, more: object = {}) =>
  unofficial.control<{ status: number; id: string }>('POST', `sessions/${paired.session}/inbound`, {
    from,
    message,
    ...more
  })

/** Rule, what the platform tells, `data.message` as told to the receiver. */
type Row = readonly [string, object, object]

const OFFICIAL: readonly Row[] = [
  ['text', { type: 'text', text: { body: 'Hi 👋' } }, { kind: 'text', text: 'Hi 👋' }],
  [
    'media, image with caption',
    { type: 'image', image: { mime_type: 'image/jpeg', caption: 'Look' } },
    { ...FILE, media: 'image', mimeType: 'image/jpeg', caption: 'Look' }
  ],
  ['media, video', { type: 'video', video: {} }, { ...FILE, media: 'video', mimeType: 'video/mp4' }],
  ['media, audio', { type: 'audio', audio: { voice: true } }, { ...FILE, media: 'audio' }],
  [
    'media, document',
    { type: 'document', document: { filename: 'Bill.pdf' } },
    { ...FILE, media: 'document', mimeType: 'application/pdf', filename: 'Bill.pdf' }
  ],
  [
    'media, sticker',
    { type: 'sticker', sticker: {} },
    { ...FILE, media: 'image', sticker: true, mimeType: 'image/webp' }
  ],
  [
    'interactive_reply, button',
    { type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: 'y', title: 'Yes' } } },
    { kind: 'interactive_reply', replyType: 'button', id: 'y', title: 'Yes' }
  ],
  [
    'interactive_reply, list',
    {
      type: 'interactive',
      interactive: { type: 'list_reply', list_reply: { id: 'c1', title: 'Carrot', description: 'With icing' } }
    },
    { kind: 'interactive_reply', replyType: 'list', id: 'c1', title: 'Carrot', description: 'With icing' }
  ],
  [
    'interactive_reply, quick reply of a template',
    { type: 'button', button: { text: 'Stop it', payload: 'p1' } },
    { kind: 'interactive_reply', replyType: 'button', id: 'p1', title: 'Stop it' }
  ],
  [
    'interactive_reply, flow',
    {
      type: 'interactive',
      interactive: { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json: '{"a":1}' } }
    },
    { kind: 'interactive_reply', replyType: 'flow', id: 'flow', title: 'Sent', data: { a: 1 } }
  ],
  [
    'unsupported, location',
    { type: 'location', location: { latitude: 1, longitude: 2 } },
    { kind: 'unsupported', originalType: 'location' }
  ],
  ['unsupported, contacts', { type: 'contacts', contacts: [{}] }, { kind: 'unsupported', originalType: 'contacts' }],
  ['unsupported, order', { type: 'order', order: {} }, { kind: 'unsupported', originalType: 'order' }],
  ['unsupported, of tomorrow', { type: 'hologram' }, { kind: 'unsupported', originalType: 'hologram' }]
]

for (const [rule, message, expected] of OFFICIAL)
  t.test(`official platform, message.received: ${rule}`, async t => {
    const from = someone()
    t.equal((await fromOfficial(from, message, { profileName: 'Bia' })).status, 200)
    const event = await heard(from)
    t.match(event.data, { from, messageId: MSG, profileName: 'Bia', message: expected })
    t.same(Object.keys(event.data).sort(), ['from', 'message', 'messageId', 'profileName'])
    t.notMatch(JSON.stringify(event), /wamid/, 'no provider id')
  })

const UNOFFICIAL: readonly Row[] = [
  ['text', { kind: 'text', text: 'Oi 👋' }, { kind: 'text', text: 'Oi 👋' }],
  ['media, image with caption', { kind: 'image', caption: 'Olha' }, { ...FILE, media: 'image', caption: 'Olha' }],
  ['media, video', { kind: 'video' }, { ...FILE, media: 'video' }],
  ['media, voice', { kind: 'voice' }, { ...FILE, media: 'audio' }],
  [
    'media, document',
    { kind: 'document', filename: 'Conta.pdf' },
    { ...FILE, media: 'document', filename: 'Conta.pdf' }
  ],
  ['media, sticker', { kind: 'sticker' }, { ...FILE, media: 'image', sticker: true }],
  [
    'interactive_reply, button',
    { kind: 'button_reply', id: 'y', title: 'Sim' },
    { kind: 'interactive_reply', replyType: 'button', id: 'y', title: 'Sim' }
  ],
  [
    'interactive_reply, list',
    { kind: 'list_reply', id: 'c1', title: 'Cenoura' },
    { kind: 'interactive_reply', replyType: 'list', id: 'c1', title: 'Cenoura' }
  ],
  ['unsupported, location', { kind: 'location' }, { kind: 'unsupported', originalType: 'location' }],
  [
    'unsupported, contacts',
    { kind: 'vcard', vcards: ['BEGIN:VCARD'] },
    { kind: 'unsupported', originalType: 'contacts' }
  ]
]

for (const [rule, message, expected] of UNOFFICIAL)
  t.test(`unofficial platform, message.received: ${rule}`, async t => {
    const from = someone()
    t.equal((await fromUnofficial(from, message, { pushName: 'Bia' })).status, 200)
    const event = await heard(from)
    t.match(event.data, { from, messageId: MSG, profileName: 'Bia', message: expected })
    t.match(event, {
      channelKind: 'unofficial',
      provider: 'unofficial_platform',
      engine: 'noweb',
      channelNumber: '5511955550002'
    })
    t.notMatch(JSON.stringify(event), /@c\.us|@s\.whatsapp/, 'no provider id')
  })

t.test(
  'message.received: replyTo, replyToUnknown and reaction with targetMessageId, of an official number',
  async t => {
    const { messageId } = await tenant.send(native.id)
    await tenant.reaches(messageId, 'read')
    const wamid = (await official.sends()).find(send => send.callbackData === messageId)?.wamid
    const [one, two, three, four] = [someone(), someone(), someone(), someone()]
    const text = (id: string | undefined) => ({
      type: 'text',
      text: { body: 'Yes' },
      context: { id, from: native.number }
    })
    await fromOfficial(one, text(wamid))
    t.match((await heard(one)).data, { replyTo: messageId, replyToUnknown: undefined })
    await fromOfficial(two, text('wamid.elsewhere'))
    t.match((await heard(two)).data, { replyTo: undefined, replyToUnknown: true })
    await fromOfficial(three, { type: 'reaction', reaction: { message_id: wamid, emoji: '❤' } })
    t.match((await heard(three)).data.message, { kind: 'reaction', targetMessageId: messageId, emoji: '❤' })
    await fromOfficial(four, { type: 'reaction', reaction: { message_id: wamid } })
    t.match((await heard(four)).data.message, { kind: 'reaction', targetMessageId: messageId, emoji: '' }, 'taken back')
  }
)

t.test(
  'message.received: replyTo, replyToUnknown and reaction with targetMessageId, of an unofficial number',
  async t => {
    const { messageId } = await tenant.send(paired.id, { text: 'Quote me' })
    await tenant.reaches(messageId, 'read')
    const id = (await unofficial.sends()).at(-1)?.id
    const [one, two, three] = [someone(), someone(), someone()]
    await fromUnofficial(one, { kind: 'reply', text: 'Sim', quotedId: id })
    t.match((await heard(one)).data, { replyTo: messageId, replyToUnknown: undefined })
    await fromUnofficial(two, { kind: 'reply', text: 'Sim', quotedId: `true_${two}@c.us_3EB0FFFFFFFFFFFFFFFF` })
    t.match((await heard(two)).data, { replyTo: undefined, replyToUnknown: true })
    await fromUnofficial(three, { kind: 'reaction', text: '❤', messageId: id })
    t.match((await heard(three)).data.message, { kind: 'reaction', targetMessageId: messageId, emoji: '❤' })
  }
)

t.test('decisions §7: a hidden number comes as the platform user id, which `to` and `recipient` accept', async t => {
  const userId = 'BR.13491208655302741918'
  await fromOfficial('', { type: 'text', text: { body: 'Hidden' } }, { from: null, fromUserId: userId })
  const event = await heard(userId)
  t.match(event.data, { from: userId, message: { kind: 'text', text: 'Hidden' } })
  const { messageId } = await tenant.send(native.id, { to: userId })
  await tenant.reaches(messageId, 'sent')
  const sent = (await official.sends()).find(send => send.callbackData === messageId)
  t.equal(sent?.body.recipient, userId)
  const listed = await tenant.ask<{ items: { id: string }[] }>('GET', `/v1/messages?recipient=${userId}`)
  t.same(
    listed.body.items.map(item => item.id),
    [messageId]
  )
  const wrong = await tenant.trySend(native.id, { to: 'somebody' })
  t.match(wrong, { status: 422, body: { error: { code: 'validation_failed' } } })
})

t.test('a hidden id of the unofficial platform is the phone number where that is known', async t => {
  const from = someone()
  await fromUnofficial(from, { kind: 'text', text: 'Known' }, { lid: true })
  t.match((await heard(from)).data, { from })
})
