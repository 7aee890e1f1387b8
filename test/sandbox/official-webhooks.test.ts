import t from 'tap'
import { eventually, PNID, startWorld, TOKEN, text, WABA } from './official-world.ts'

t.test('unacknowledged webhooks come again until they are acknowledged or given up', async t => {
  const world = await startWorld(t)
  await world.control('POST', 'settings', { webhookRetry: { firstMs: 10, attempts: 4 }, autoStatuses: false })
  let failures = 2
  world.receiver.answer = () => (failures-- > 0 ? 500 : 200)
  const posted = await world.control('POST', 'inbound', { phoneNumberId: PNID, message: text('') })
  t.equal(posted.body.status, 500, 'the first answer is reported')
  await world.drained()
  t.equal(world.receiver.hooks.length, 3)
  t.equal(new Set(world.receiver.hooks.map(hook => hook.raw)).size, 1, 'the very same bytes each time')
  t.match((await world.control('GET', 'webhooks')).body, { posted: 3, acknowledged: 1, failed: 2, dropped: 0 })
  world.receiver.answer = () => 503
  await world.control('POST', 'inbound', { phoneNumberId: PNID, message: text('') })
  await world.drained()
  t.match((await world.control('GET', 'webhooks')).body, { posted: 7, dropped: 1, pending: 0, scheduled: 0 })
})

t.test('bodies are escaped and signed over the escaped bytes', async t => {
  const world = await startWorld(t)
  const message = { type: 'text', text: { body: 'Olá 👍 a/b' } }
  await world.control('POST', 'inbound', { phoneNumberId: PNID, profileName: 'José', message })
  const [hook] = world.receiver.hooks
  t.ok(hook?.signed)
  t.match(hook?.raw, 'Ol\\u00e1 \\ud83d\\udc4d a\\/b')
  t.equal(hook?.headers['user-agent'], 'facebookexternalua')
  t.match(hook?.body, {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: WABA,
        changes: [
          { field: 'messages', value: { metadata: { phone_number_id: PNID, display_phone_number: '5511900000000' } } }
        ]
      }
    ]
  })
  const value = world.values()[0]
  t.match(value.contacts, [{ profile: { name: 'José' }, wa_id: '5511900000001' }])
  t.match(value.messages, [{ from: '5511900000001', id: /^wamid\./, timestamp: /^\d+$/, text: { body: 'Olá 👍 a/b' } }])
  const body = { object: 'whatsapp_business_account', entry: [] }
  t.same((await world.control('POST', 'webhook', { body, sign: 'wrong' })).body.status, 200)
  await world.control('POST', 'webhook', { body, sign: false })
  await world.control('POST', 'webhook', { raw: '{not json', repeat: 2 })
  t.same(
    world.receiver.hooks.slice(1).map(one => one.signed),
    [false, false, true, true]
  )
  t.equal(world.receiver.hooks[2]?.headers['x-hub-signature-256'], undefined)
  t.equal(world.receiver.hooks[4]?.raw, '{not json')
})

t.test('inbound messages of every kind', async t => {
  const world = await startWorld(t)
  const inbound = async (message: object, extra: object = {}) => {
    const answer = await world.control('POST', 'inbound', { phoneNumberId: PNID, message, ...extra })
    t.equal(answer.body.status, 200)
    return world.values().at(-1)
  }
  const hidden = await inbound(text(''), { fromUserId: 'BR.1349' })
  t.match(hidden, {
    contacts: [{ user_id: 'BR.1349', wa_id: undefined }],
    messages: [{ from: undefined, from_user_id: 'BR.1349' }]
  })
  const system = await inbound({ type: 'system', system: { type: 'user_changed_number', wa_id: '55119' } })
  t.equal(system.contacts, undefined)
  const broken = await inbound({ type: 'interactive' }, { valueErrors: [{ code: 131000 }] })
  t.match(broken, { errors: [{ code: 131000 }], messages: [{ type: 'interactive', interactive: undefined }] })
  const button = { type: 'button', button: { payload: 'STOP', text: 'Stop' }, context: { from: '1', id: 'wamid.x' } }
  t.match((await inbound(button)).messages, [button])
  const media = { base64: Buffer.from('bytes').toString('base64'), mimeType: 'image/png', withUrl: true }
  const { image } = (await inbound({ type: 'image', image: { caption: 'look' } }, { media })).messages[0]
  t.match(image, { caption: 'look', mime_type: 'image/png', sha256: /=$/, id: String })
  const file = await world.call('GET', image.url, undefined, { authorization: `Bearer ${TOKEN}` })
  t.equal(file.body, 'bytes')
  const many = await world.control('POST', 'inbound', {
    phoneNumberId: PNID,
    message: text(''),
    count: 5,
    batch: true,
    duplicates: 1
  })
  t.match(many.body, { status: 200, posted: 2, acknowledged: 2 })
  t.equal(new Set(many.body.ids).size, 5)
  t.equal(world.values().at(-1).messages.length, 5)
  t.equal((await world.control('POST', 'inbound', { phoneNumberId: 'x', message: {} })).status, 400)
})

t.test('single statuses and account events on demand', async t => {
  const world = await startWorld(t, { autoStatuses: false })
  const { id } = (await world.send(text('msg_s'))).body.messages[0]
  t.same((await world.control('POST', 'status', { callbackData: 'msg_s', status: 'failed' })).body, {
    status: 200,
    wamid: id
  })
  await world.control('POST', 'status', { wamid: id, status: 'read', timestamp: 1767000009, duplicates: 1 })
  t.match(world.statuses('msg_s'), [
    { status: 'failed', errors: [{ code: 131026 }] },
    { status: 'read', timestamp: '1767000009' },
    { status: 'read' }
  ])
  await world.control('POST', 'templates', { wabaId: WABA, name: 'x', language: 'pt_BR' })
  const event = async (body: object) => {
    t.equal((await world.control('POST', 'account', body)).body.status, 200)
    return world.receiver.hooks.at(-1)?.body.entry[0]
  }
  t.match(await event({ kind: 'restriction', wabaId: WABA, expiration: 1767600000 }), {
    id: WABA,
    time: Number,
    changes: [
      {
        field: 'account_update',
        value: { event: 'ACCOUNT_RESTRICTION', restriction_info: [{ expiration: 1767600000 }] }
      }
    ]
  })
  t.match(await event({ kind: 'partner_added', wabaId: WABA, businessId: '31' }), {
    id: '31',
    changes: [{ value: { event: 'PARTNER_ADDED', waba_info: { waba_id: WABA } } }]
  })
  t.match(await event({ kind: 'template_status', name: 'x', event: 'PAUSED' }), {
    changes: [{ field: 'message_template_status_update', value: { event: 'PAUSED', message_template_id: Number } }]
  })
  t.equal((await world.control('GET', 'state')).body.templates[0].status, 'PAUSED')
  t.match(await event({ kind: 'quality', phoneNumberId: PNID, limit: 'TIER_10K' }), {
    changes: [{ field: 'phone_number_quality_update', value: { current_limit: 'TIER_10K' } }]
  })
  t.match(await event({ kind: 'user_preferences', phoneNumberId: PNID, waId: '5511900000001' }), {
    changes: [{ field: 'user_preferences', value: { user_preferences: [{ value: 'stop' }] } }]
  })
  t.match(await event({ field: 'account_alerts', value: { a: 1 }, wabaId: WABA }), {
    changes: [{ field: 'account_alerts' }]
  })
  t.equal((await world.control('POST', 'account', { kind: 'nothing' })).status, 400)
})

t.test('under load statuses are batched, and counts stay exact', async t => {
  const world = await startWorld(t, { delaysMs: { sent: 0, delivered: 0, read: 0 } })
  await world.control('POST', 'settings', { webhookBatch: 50 })
  const SENDS = 300
  await Promise.all(Array.from({ length: SENDS }, (_, n) => world.send(text(`msg_${n % 299}`))))
  await world.drained()
  const all = world.values().flatMap(value => value.statuses ?? [])
  t.equal(all.length, SENDS * 3)
  t.ok(world.receiver.hooks.length < SENDS * 3)
  t.ok(world.values().every(value => value.statuses.length <= 50))
  const duplicates = (await world.control('GET', 'sends?duplicates=1')).body
  t.same(duplicates, { total: SENDS, accepted: SENDS, distinct: 299, byCallbackData: { msg_0: 2 } })
  await world.control('POST', 'settings', { countByCallbackData: false, recordSends: false })
  await world.control('POST', 'reset', { keep: true })
  await world.send(text('msg_x'))
  t.match((await world.control('GET', 'sends?list=1')).body, { accepted: 1, distinct: 0, list: [] })
  await world.control('POST', 'reset', {})
  t.match((await world.control('GET', 'state')).body.settings, { recordSends: true, webhookBatch: 200 })
})

t.test('the callback can be set and verified later', async t => {
  const world = await startWorld(t, { callbackUrl: null })
  t.equal((await world.control('POST', 'inbound', { phoneNumberId: PNID, message: text('') })).status, 400)
  world.receiver.verify = 'something else'
  const { url } = world.receiver
  t.same((await world.control('POST', 'callback', { url, verify: true })).body, { ok: false, verified: false })
  t.same((await world.control('POST', 'callback', { url })).body, { ok: true, verified: null })
  await world.send(text('later'))
  await eventually(() => world.statuses('later').length === 3)
})
