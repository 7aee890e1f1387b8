import t from 'tap'
import { PEER, startRig } from './unofficial-rig.ts'

const ENGINES = ['WEBJS', 'NOWEB', 'GOWS'] as const
const text = (more = {}) => ({ session: 's1', chatId: PEER, text: 'Oi', ...more })

for (const engine of ENGINES) {
  t.test(`${engine} answers in its own shape, echoes and acknowledges`, async t => {
    const rig = await startRig({ engine })
    t.teardown(rig.close)
    await rig.pair()
    const answer = await rig.call('POST', '/api/sendText', text({ unknownField: 1 }))
    t.equal(answer.status, 201)
    const bare = { WEBJS: answer.body.id?.id, NOWEB: answer.body.key?.id, GOWS: answer.body.id?.split?.('_')[2] }[
      engine
    ]
    t.match(bare, /^3EB0[0-9A-F]{16,20}$/)
    const id = `true_${PEER}_${bare}`
    if (engine === 'GOWS') t.match(answer.body, { id, _data: { Info: { ID: bare }, Message: { conversation: 'Oi' } } })
    if (engine === 'WEBJS')
      t.match(answer.body, { id: { _serialized: id }, ack: 0, body: 'Oi', type: 'chat', to: PEER })
    if (engine === 'NOWEB') {
      t.match(answer.body, { key: { remoteJid: '5511900000001@s.whatsapp.net', fromMe: true }, status: 'PENDING' })
    }

    t.match((await rig.control('drain')).body, { drained: true, pending: 0 })
    const [echo] = rig.of('message.any')
    t.match(echo?.payload, { id, fromMe: true, source: 'api', body: 'Oi', hasMedia: false })
    t.equal(echo?.payload.from, engine === 'WEBJS' ? '5511900000000@c.us' : PEER)
    t.equal(rig.of('message').length, 0)
    const acks = rig.of('message.ack').map(({ payload }) => payload)
    t.ok(acks.every(ack => ack.id === id))
    t.same(
      new Set(acks.map(ack => ack.ackName)),
      new Set(engine === 'GOWS' ? ['DEVICE', 'READ'] : ['SERVER', 'DEVICE', 'READ'])
    )
    t.match((await rig.call('GET', '/_control/sends?list=1')).body, {
      total: 1,
      accepted: 1,
      byText: { Oi: 1 },
      list: [{ session: 's1', chatId: PEER, endpoint: 'sendText', id }]
    })
  })
}

t.test('every kind of send, and what each engine lacks', async t => {
  const file = { mimetype: 'image/jpeg', url: 'https://cdn.example.com/a.jpg' }
  const sections = [{ title: 'Main', rows: [{ title: 'Row 1', rowId: 'r1' }] }]
  const bodies = {
    sendImage: { file, caption: 'A' },
    sendFile: { file: { mimetype: 'application/pdf', filename: 'i.pdf', data: 'JVBERi0=' } },
    sendVideo: { file, convert: true },
    sendVoice: { file },
    sendLocation: { latitude: -23.55, longitude: -46.63, title: 'Office' },
    sendContactVcard: {
      contacts: [{ fullName: 'Ana', phoneNumber: '+55 11 90000-0002', whatsappId: '5511900000002' }]
    },
    sendList: { message: { title: 'Menu', description: 'Pick', button: 'Open', sections } },
    sendButtons: { body: 'b', buttons: [{ type: 'reply', id: 'yes', text: 'Yes' }] },
    sendSeen: {},
    startTyping: {},
    stopTyping: {}
  }
  const lacking = { WEBJS: ['sendList', 'sendButtons'], NOWEB: [], GOWS: ['sendButtons'] }
  for (const engine of ENGINES) {
    const rig = await startRig({ engine })
    t.teardown(rig.close)
    await rig.pair()
    for (const [endpoint, body] of Object.entries(bodies)) {
      const answer = await rig.call('POST', `/api/${endpoint}`, { session: 's1', chatId: PEER, ...body })
      const isLacking = (lacking[engine] as string[]).includes(endpoint)
      t.equal(answer.status, isLacking ? 422 : 201, `${engine} ${endpoint}`)
      if (isLacking) t.match(answer.body.message, /^The method is not implemented by the engine\./)
    }
    const id = await rig.call('GET', '/api/s1/new-message-id')
    t.equal(id.status, engine === 'WEBJS' ? 422 : 200)
    const reaction = { session: 's1', messageId: `false_${PEER}_3A01`, reaction: '👍' }
    t.equal((await rig.call('PUT', '/api/reaction', reaction)).status, 200)
    await rig.until(() => rig.of('message.reaction').length === 1)
    t.match(rig.of('message.reaction')[0]?.payload, {
      fromMe: true,
      reaction: { text: '👍', messageId: `false_${PEER}_3A01` }
    })
  }
})

t.test('files are only downloaded when asked for', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  await rig.pair()
  const file = { mimetype: 'image/jpeg', url: 'http://127.0.0.1:9/a.jpg' }
  const send = () => rig.call('POST', '/api/sendImage', { session: 's1', chatId: PEER, file })
  t.equal((await send()).status, 201)
  await rig.control('settings', { fetchFiles: true })
  t.equal((await send()).status, 500)
  t.match((await rig.call('GET', '/_control/sends')).body, { total: 2, accepted: 1 })
})

t.test('refusals: validation, wrong session, wrong status', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  t.equal((await rig.call('POST', '/api/sendText', text())).status, 404)
  await rig.call('POST', '/api/sessions', { name: 's1' })
  const early = await rig.call('POST', '/api/sendText', text())
  t.match([early.status, early.body], [422, { expected: ['WORKING'], status: 'SCAN_QR_CODE' }])
  await rig.control('sessions/s1/scan')
  t.same((await rig.call('POST', '/api/sendText', { session: 's1', chatId: PEER })).body, {
    statusCode: 400,
    message: ['text must be a string'],
    error: 'Bad Request'
  })
  await rig.call('POST', '/api/sessions/s1/stop')
  const stopped = await rig.call('POST', '/api/sendText', text())
  t.equal(stopped.status, 404)
  t.match(stopped.body.message, /^We didn't find a session with name 's1'\./)
})

t.test('pre-generated ids, quotes and history', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  await rig.pair()
  const { id } = (await rig.call('GET', '/api/s1/new-message-id')).body
  t.equal((await rig.call('POST', '/api/sendText', text({ id }))).body.key.id, id)
  const quoting = await rig.call('POST', '/api/sendText', text({ text: 'Re', reply_to: `true_${PEER}_${id}` }))
  await rig.until(() => rig.of('message.any').length === 2)
  t.match(rig.of('message.any').find(({ payload }) => payload.body === 'Re')?.payload.replyTo, { id, body: 'Oi' })
  const history = await rig.call('GET', `/api/s1/chats/${encodeURIComponent(PEER)}/messages?limit=1`)
  t.equal(history.body.length, 1)
  t.equal(history.body[0].id, `true_${PEER}_${quoting.body.key.id}`)

  const unknown = text({ reply_to: `false_${PEER}_3AFFFF` })
  t.equal((await rig.call('POST', '/api/sendText', unknown)).status, 201)
  await rig.control('settings', { missingQuote: 'refuse' })
  t.equal((await rig.call('POST', '/api/sendText', unknown)).status, 422)

  const path = `/api/s1/chats/${encodeURIComponent(PEER)}/messages/${encodeURIComponent(`true_${PEER}_${id}`)}`
  t.equal((await rig.call('PUT', path, { text: 'Oi!' })).body.body, 'Oi!')
  t.equal((await rig.call('DELETE', path)).status, 200)
  t.equal((await rig.call('GET', path)).status, 404)
  await rig.until(() => rig.of('message.edited').length === 1 && rig.of('message.revoked').length === 1)
  t.equal(rig.of('message.revoked')[0]?.payload.revokedMessageId, id)
})

t.test('numbers: the ninth digit, strangers to the network, hidden ids, restriction', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  await rig.pair()
  const lid = '123456789012345@lid'
  const lids = { [lid]: '5511900000001' }
  await rig.control('contacts', { missing: ['5511900000004'], withoutNinthDigit: ['5511900000003'], lids })
  const exists = async (phone: string) =>
    (await rig.call('GET', `/api/contacts/check-exists?phone=${phone}&session=s1`)).body
  t.same(await exists('5511900000001'), { numberExists: true, chatId: PEER })
  t.same(await exists('5511900000003'), { numberExists: true, chatId: '551100000003@c.us' })
  t.same(await exists('5511900000004'), { numberExists: false })
  t.same((await rig.call('GET', `/api/s1/lids/${encodeURIComponent(lid)}`)).body, { lid, pn: PEER })
  t.same((await rig.call('GET', '/api/s1/lids/pn/5511900000001')).body, { lid, pn: PEER })
  t.equal((await rig.call('GET', '/api/s1/lids/99%40lid')).body.pn, null)

  await rig.call('POST', '/api/sendText', text({ chatId: '5511900000004@c.us' }))
  await rig.until(() => rig.of('message.ack').length === 1)
  t.match(rig.of('message.ack')[0]?.payload, { ack: -1, ackName: 'ERROR' })

  await rig.control('sessions/s1/restrict', { until: '2099-01-01T00:00:00.000Z', enforcementType: 'BIZ_QUALITY' })
  t.match((await rig.call('GET', '/api/sessions/s1')).body.restriction, {
    active: true,
    enforcementType: 'BIZ_QUALITY'
  })
  await rig.call('POST', '/api/sendText', text())
  await rig.until(() => rig.of('message.ack').length === 2)
  t.match(rig.of('message.ack')[1]?.payload, { ack: -1, error: { code: '463', until: '2099-01-01T00:00:00.000Z' } })
  await rig.control('sessions/s1/inbound', { from: '5511900000001', message: { kind: 'text', text: 'Oi' } })
  await rig.call('POST', '/api/sendText', text())
  await rig.control('drain')
  t.equal(rig.of('message.ack').filter(({ payload }) => payload.ackName === 'READ').length, 1)
})

t.test('profile and pictures', async t => {
  const rig = await startRig()
  t.teardown(rig.close)
  await rig.pair()
  t.same((await rig.call('GET', '/api/s1/profile')).body, { id: '5511900000000@c.us', name: 'Acme', picture: null })
  const file = { mimetype: 'image/jpeg', url: 'https://cdn.example.com/p.jpg' }
  t.same((await rig.call('PUT', '/api/s1/profile/picture', { file })).body, { success: true })
  t.same((await rig.call('PUT', '/api/s1/profile/name', { name: 'Bia' })).body, { success: true })
  t.match((await rig.call('GET', '/api/s1/profile')).body, { name: 'Bia', picture: /^https:/ })
  t.equal((await rig.call('DELETE', '/api/s1/profile/picture')).status, 200)
  t.equal((await rig.call('GET', '/api/s1/profile')).body.picture, null)
  t.equal((await rig.call('PUT', '/api/s1/profile/status', {})).status, 400)
  const picture = await rig.call(
    'GET',
    `/api/contacts/profile-picture?contactId=${encodeURIComponent(PEER)}&session=s1`
  )
  t.match(picture.body.profilePictureURL, /^https:\/\/pps\.whatsapp\.net\//)
  t.match((await rig.call('GET', `/api/s1/chats/${encodeURIComponent(PEER)}/picture`)).body.url, /^https:/)
})
