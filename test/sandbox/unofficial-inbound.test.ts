import t from 'tap'
import { type Payload, PEER, startRig } from './unofficial-rig.ts'

type Rig = Awaited<ReturnType<typeof startRig>>
const FROM = '5511900000001'

async function inbound(rig: Rig, message: object, more: object = {}) {
  rig.callbacks.length = 0
  const answer = await rig.control('sessions/s1/inbound', { from: FROM, message, ...more })
  return { ...answer.body, status: answer.body.status, payload: rig.of('message.any')[0]?.payload as Payload }
}

t.test('texts come in both events, and the answer of the receiver comes back', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  await rig.pair()
  const { status, id, payload } = await inbound(
    rig,
    { kind: 'text', text: 'Oi' },
    { pushName: 'Bia', timestamp: 1767000000 }
  )
  t.equal(status, 200)
  t.match(payload, { id, from: PEER, fromMe: false, source: 'app', body: 'Oi', timestamp: 1767000000, hasMedia: false })
  t.match(payload._data, { pushName: 'Bia', key: { remoteJid: '5511900000001@s.whatsapp.net' } })
  t.match(rig.of('message')[0]?.payload, { id })
  rig.plan.push({ status: 500 }, { status: 500 })
  t.equal((await inbound(rig, { kind: 'text', text: 'Oi' })).status, 500)
  await rig.control('drain')
  const burst = await inbound(rig, { kind: 'text', text: 'number {n}' }, { count: 3 })
  t.equal(burst.ids.length, 3)
  t.same(
    rig
      .of('message')
      .map(body => body.payload.body)
      .sort(),
    ['number 0', 'number 1', 'number 2']
  )
})

t.test('replies, choices, places and cards', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  await rig.pair()
  const sent = (await rig.call('POST', '/api/sendText', { session: 's1', chatId: PEER, text: 'Hi' })).body.key.id
  await rig.control('drain')
  const reply = await inbound(rig, { kind: 'reply', text: 'Re', quotedId: `true_${PEER}_${sent}` })
  t.match(reply.payload.replyTo, { id: sent, participant: '5511900000000@c.us', body: 'Hi' })
  const list = await inbound(rig, { kind: 'list_reply', id: 'r1', title: 'Row 1' })
  t.match(list.payload, {
    body: 'Row 1',
    _data: { message: { listResponseMessage: { singleSelectReply: { selectedRowId: 'r1' } } } }
  })
  const button = await inbound(rig, { kind: 'button_reply', id: 'yes', title: 'Yes' })
  t.match(button.payload._data.message.buttonsResponseMessage, { selectedButtonId: 'yes', selectedDisplayText: 'Yes' })
  const place = await inbound(rig, { kind: 'location', latitude: -23.55, longitude: -46.63 })
  t.match(place.payload, { body: null, location: { latitude: '-23.55', longitude: '-46.63', live: false } })
  const card = await inbound(rig, { kind: 'vcard', vcards: ['BEGIN:VCARD\nEND:VCARD'] })
  t.same(card.payload.vCards, ['BEGIN:VCARD\nEND:VCARD'])
})

t.test('reactions, edits and revocations', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  await rig.pair()
  const { id } = await inbound(rig, { kind: 'text', text: 'Oi' })
  const reaction = await inbound(rig, { kind: 'reaction', messageId: id, text: '🙏' })
  t.equal(reaction.payload, undefined)
  t.match(rig.of('message.reaction')[0]?.payload, { fromMe: false, reaction: { text: '🙏', messageId: id } })
  await inbound(rig, { kind: 'edit', messageId: id, text: 'Olá' })
  t.match(rig.of('message.edited')[0]?.payload, { id, body: 'Olá', editedMessageId: id.split('_')[2] })
  await inbound(rig, { kind: 'revoke', messageId: id })
  t.match(rig.of('message.revoked')[0]?.payload, { revokedMessageId: id.split('_')[2], before: { body: 'Olá' } })
  t.equal((await rig.control('sessions/s1/inbound', { message: { kind: 'riddle' } })).status, 400)
  t.equal((await rig.control('sessions/none/inbound', {})).status, 404)
})

t.test('hidden senders, groups and what the phone itself sent', async t => {
  const rig = await startRig({ engine: 'GOWS' })
  t.teardown(rig.close)
  await rig.pair()
  const unknown = await inbound(rig, { kind: 'text', text: 'a' }, { lid: true, lidKnown: false })
  const lid = unknown.payload.from
  t.match(lid, /^\d{15}@lid$/)
  t.equal(unknown.payload._data.Info.SenderAlt, '')
  t.equal((await rig.call('GET', `/api/s1/lids/${encodeURIComponent(lid)}`)).body.pn, null)
  const known = await inbound(rig, { kind: 'text', text: 'b' }, { lid: true })
  t.match(known.payload, { from: lid, _data: { Info: { SenderAlt: '5511900000001@s.whatsapp.net' } } })
  t.equal((await rig.call('GET', `/api/s1/lids/${encodeURIComponent(lid)}`)).body.pn, PEER)
  const group = await inbound(rig, { kind: 'group', text: 'noise' })
  t.match(group.payload, {
    from: /@g\.us$/,
    participant: PEER,
    id: /^false_\d+@g\.us_3A[0-9A-F]+_5511900000001@c\.us$/
  })
  const own = await inbound(rig, { kind: 'text', text: 'from my phone' }, { fromMe: true })
  t.match(own.payload, { fromMe: true, source: 'app', from: PEER })
  t.equal(rig.of('message').length, 0)
})

t.test('files need the key, expire, and can be fetched anew', async t => {
  const rig = await startRig({ timeScale: 0.0005 })
  t.teardown(rig.close)
  await rig.pair()
  const kinds = {
    image: 'image/jpeg',
    video: 'video/mp4',
    voice: 'audio/ogg; codecs=opus',
    document: 'application/pdf',
    sticker: 'image/webp'
  }
  for (const [kind, mimetype] of Object.entries(kinds)) {
    const { payload, id } = await inbound(rig, { kind, caption: 'look', filename: 'f.bin', bytes: 2048 })
    t.match(payload, { hasMedia: true, body: 'look', media: { mimetype, error: null } })
    t.equal(payload.media.filename, kind === 'document' ? 'f.bin' : null)
    t.ok(payload.media.url.startsWith(`http://localhost:3000/api/files/s1/${id}.`))
  }
  const data = Buffer.from('a real file').toString('base64')
  const { payload, id } = await inbound(rig, { kind: 'image', data })
  const path = new URL(payload.media.url).pathname
  t.equal((await rig.call('GET', path, undefined, { 'x-api-key': 'wrong' })).status, 401)
  const file = await rig.call('GET', path)
  t.same([file.status, file.type, file.raw.toString()], [200, 'image/jpeg', 'a real file'])
  const deadline = Date.now() + 5000
  let gone = await rig.call('GET', path)
  while (gone.status === 200 && Date.now() < deadline) gone = await rig.call('GET', path)
  t.match([gone.status, gone.body], [404, { error: { code: 404, key: 'FILE_NOT_FOUND' } }])
  const message = `/api/s1/chats/${encodeURIComponent(PEER)}/messages/${encodeURIComponent(id)}?downloadMedia=true`
  const renewed = new URL((await rig.call('GET', message)).body.media.url).pathname
  t.equal((await rig.call('GET', renewed)).raw.toString(), 'a real file')
  t.equal((await inbound(rig, { kind: 'image', media: 'off' })).payload.media, null)
  t.match((await inbound(rig, { kind: 'image', mediaError: 'failed' })).payload.media, { url: null, error: 'failed' })
})

t.test('acknowledgements and events by hand', async t => {
  const rig = await startRig({ autoAcks: false })
  t.teardown(rig.close)
  await rig.pair()
  const sent = (await rig.call('POST', '/api/sendText', { session: 's1', chatId: PEER, text: 'Hi' })).body.key.id
  await rig.control('drain')
  t.equal(rig.of('message.ack').length, 0)
  const id = `true_${PEER}_${sent}`
  t.same((await rig.control('sessions/s1/ack', { id: sent, ack: 4 })).body, { status: 200, id })
  t.match(rig.of('message.ack')[0]?.payload, { id, ack: 4, ackName: 'PLAYED', from: PEER, fromMe: true })
  await rig.control('sessions/s1/ack', { id: `true_${PEER}_3EB0FF`, ack: -1, error: 'why', chatId: '1@lid' })
  t.match(rig.of('message.ack')[1]?.payload, { id: 'true_1@lid_3EB0FF', error: 'why' })
  const event = { event: 'call.received', payload: { from: PEER } }
  t.same((await rig.control('sessions/s1/event', event)).body, { status: 200, id: null })
  t.match(rig.of('call.received')[0], { event: 'call.received', session: 's1', payload: { from: PEER } })
})
