/** A contact has several identities: phone number, user id, hidden id, the platform's own form of a number (decisions §7). */
import t from 'tap'
import { WABA_ID } from '../support/platforms.ts'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, { settings: { ENFORCE_24H_WINDOW: 'true', OPT_OUT_KEYWORDS: 'STOP' } })
const { official, unofficial } = world
const tenant = await world.tenant('acme')
const native = await tenant.officialNumber(official)
const paired = await tenant.unofficialNumber(unofficial, '5511955550008')
const hooks = await tenant.receiver(t)
await official.control('POST', 'templates', { wabaId: WABA_ID, name: 'hello', language: 'en' })

let users = 0
const userId = (): string => `BR.1349120865530274${String(++users).padStart(4, '0')}`
const hiddenId = (): string => `77000000000${String(++users).padStart(4, '0')}@lid`

/** Somebody writes to the official number; the platform names them in one form or in both. */
const heard = async (from: string | null, fromUserId: string | null, body = 'Hi'): Promise<void> => {
  const told = await official.inbound({
    phoneNumberId: native.phoneNumberId,
    from,
    ...(fromUserId === null ? {} : { fromUserId }),
    message: { type: 'text', text: { body } }
  })
  if (told.status !== 200) throw new Error(`the callback was answered ${told.status}`)
}
const toUnofficial = (body: object) =>
  unofficial.control<{ status: number }>('POST', `sessions/${paired.session}/inbound`, {
    message: { kind: 'text', text: 'Oi' },
    ...body
  })
const sent = async (to: string, ref = native.id): Promise<string> => (await tenant.send(ref, { to })).messageId
const listed = async (recipient: string): Promise<readonly string[]> => {
  const { body } = await tenant.ask<{ items: { id: string }[] }>('GET', `/v1/messages?recipient=${recipient}`)
  return body.items.map(item => item.id)
}
const erase = async (contact: string): Promise<number> =>
  (await tenant.ask<{ messages: number }>('POST', '/v1/erasure', { contact })).body.messages
/** Fails loudly when it ends otherwise. */
const ends = async (messageId: string, code: string): Promise<void> => {
  const { lastError } = await tenant.reaches(messageId, 'failed')
  if (lastError !== code) throw new Error(`${messageId} failed with ${lastError}, not ${code}`)
}

for (const by of ['phone number', 'user id'] as const)
  t.test(`official platform: a message that names both forms makes them one contact; erased by ${by}`, async t => {
    const [phone, user] = [someone(), userId()]
    await heard(phone, user)
    const [one, two] = [await sent(phone), await sent(user)]
    await tenant.reaches(one, 'read')
    await tenant.reaches(two, 'read')
    for (const form of [phone, user]) t.same(await listed(form), [two, one], 'the list knows them as one')
    const masked = `${phone.slice(0, 4)}*****${phone.slice(-4)}`
    t.equal((await tenant.track(one)).toAddress, masked)
    t.match((await tenant.track(two)).toAddress, /^BR.*\*.*\d{4}$/, 'each is shown where it was sent')
    await heard(null, user, 'Hidden by now')
    await hooks.got('the hidden form', one => one.data.from === user)

    t.equal(await erase(by === 'phone number' ? phone : user), 2)
    for (const id of [one, two]) t.equal((await tenant.track(id)).toAddress, '***')
    for (const form of [phone, user]) t.same(await listed(form), [])
    t.equal(await erase(phone), 0)
    t.equal(await erase(user), 0)
    await ends(await sent(user), 'outside_24h_window')
    await heard(null, user)
    await tenant.reaches(await sent(user), 'read')
    await ends(await sent(phone), 'outside_24h_window')
    await heard(phone, user)
    await tenant.reaches(await sent(phone), 'read')
    t.equal((await listed(phone)).length, 4, 'whoever writes later begins anew, and is known as one again')
  })

t.test('official platform: the form of the number that the answer of a send gave is the same contact', async t => {
  const long = `55119${String(90_000_000 + ++users)}`
  const short = long.replace(/^55119/, '5511')
  await official.fault('wrong_wa_id', { match: { to: long }, waId: short })
  const content = { kind: 'template', name: 'hello', language: 'en' }
  const first = await tenant.ask<{ messageId: string }>('POST', `/v1/channels/${native.id}/messages`, {
    to: long,
    content,
    idempotencyKey: 'ninth digit'
  })
  await tenant.reaches(first.body.messageId, 'read')
  await ends(await sent(long), 'outside_24h_window')
  await heard(short, null)
  const inside = await sent(long)
  await tenant.reaches(inside, 'read')
  const other = await sent(short)
  await tenant.reaches(other, 'read')
  t.same(await listed(long), await listed(short))
  t.equal((await listed(short)).length, 4)
  t.equal((await tenant.track(inside)).toAddress, `${long.slice(0, 4)}*****${long.slice(-4)}`)
  t.equal((await tenant.track(other)).toAddress, `${short.slice(0, 4)}****${short.slice(-4)}`)
  t.equal(await erase(short), 4)
  t.same(await listed(long), [])
})

t.test('official platform: a report that names both forms makes them one contact', async t => {
  const [phone, user] = [someone(), userId()]
  await heard(phone, null)
  const messageId = await sent(phone)
  await tenant.reaches(messageId, 'read')
  const wamid = (await official.sends()).find(send => send.callbackData === messageId)?.wamid
  const report = { id: wamid, status: 'read', timestamp: '1767000000', recipient_id: phone, recipient_user_id: user }
  const metadata = { display_phone_number: native.number, phone_number_id: native.phoneNumberId }
  const value = { messaging_product: 'whatsapp', metadata, statuses: [report] }
  const body = {
    object: 'whatsapp_business_account',
    entry: [{ id: WABA_ID, changes: [{ field: 'messages', value }] }]
  }
  t.equal((await official.callback(body)).status, 200)
  t.same(await listed(user), [messageId])
  await tenant.reaches(await sent(user), 'read')
  t.equal(await erase(user), 2)
})

t.test('a platform’s mistake does not make one person of everybody', async t => {
  const phone = someone()
  const users = Array.from({ length: 20 }, userId)
  for (const user of users) await heard(phone, user)
  const messageId = await sent(phone)
  await tenant.reaches(messageId, 'read')
  const named = await Promise.all(users.map(async user => (await listed(user)).length))
  t.equal(named.indexOf(0), 15, 'sixteen addresses at most')
  t.equal(named.lastIndexOf(1), 14)

  const wamid = (await official.sends()).find(send => send.callbackData === messageId)?.wamid
  const own = { id: wamid, status: 'delivered', timestamp: '1767000000', recipient_id: native.number }
  const metadata = { display_phone_number: native.number, phone_number_id: native.phoneNumberId }
  const value = { messaging_product: 'whatsapp', metadata, statuses: [own] }
  const body = {
    object: 'whatsapp_business_account',
    entry: [{ id: WABA_ID, changes: [{ field: 'messages', value }] }]
  }
  t.equal((await official.callback(body)).status, 200)
  t.same(await listed(native.number), [], 'the number itself is nobody’s other address')
})

t.test('two contacts that were known before turn out to be one', async t => {
  const [phone, user] = [someone(), userId()]
  await heard(phone, null)
  await heard(null, user)
  const before = [await sent(phone), await sent(user)]
  await tenant.reaches(before[0] ?? '', 'read')
  await tenant.reaches(before[1] ?? '', 'read')
  t.same(await listed(phone), [before[0]])
  t.same(await listed(user), [before[1]])
  await heard(phone, user)
  for (const form of [phone, user]) t.same(await listed(form), before.toReversed())
  t.match((await tenant.track(before[1] ?? '')).toAddress, /^BR/)
  const after = await sent(user)
  await tenant.reaches(after, 'read')
  t.same(await listed(phone), [after, ...before.toReversed()])
  t.equal(await erase(user), 3)
  for (const id of [...before, after]) t.equal((await tenant.track(id)).toAddress, '***')
})

t.test('who has opted out under one form has done so under the other, also after an erasure', async t => {
  for (const [first, then] of [
    ['phone', 'both'],
    ['user', 'both'],
    ['both', 'phone']
  ] as const) {
    const [phone, user] = [someone(), userId()]
    const say = (form: 'phone' | 'user' | 'both', text: string) =>
      heard(form === 'user' ? null : phone, form === 'phone' ? null : user, text)
    await say(first, first === 'both' ? 'Hi' : 'STOP')
    await say(then, first === 'both' ? 'STOP' : 'Hi')
    for (const form of [phone, user]) await ends(await sent(form), 'recipient_opted_out')
    t.equal(await erase(first === 'user' ? phone : user), 2)
    for (const form of [phone, user]) await ends(await sent(form), 'recipient_opted_out')
    await say('both', 'START')
    for (const form of [phone, user]) await tenant.reaches(await sent(form), form === phone ? 'read' : 'read')
  }
})

t.test('unofficial numbers: a hidden id is answered, filtered by and erased as `from` gave it', async t => {
  const lid = hiddenId()
  t.equal((await toUnofficial({ from: lid })).status, 200)
  const { event } = await hooks.got('the hidden id', one => one.data.from === lid)
  t.match(event.data, { message: { kind: 'text', text: 'Oi' } })
  const answer = await sent(lid, paired.id)
  await tenant.reaches(answer, 'read')
  t.same(await listed(lid), [answer])
  t.match((await tenant.track(answer)).toAddress, /^770\d*\*+@lid$/)
  t.equal(await erase(lid), 1)
  t.same(await listed(lid), [])
})

t.test('unofficial numbers: once the phone number is known, hidden id and number are one contact', async t => {
  const lid = hiddenId()
  const phone = someone()
  await toUnofficial({ from: lid })
  await hooks.got('the hidden id', one => one.data.from === lid)
  const toLid = await sent(lid, paired.id)
  await tenant.reaches(toLid, 'read')
  // A new session asks the instance again, which has learnt the number; this one hears it in a message.
  await unofficial.control('POST', 'contacts', { lids: { [lid]: phone } })
  const key = { remoteJid: lid, remoteJidAlt: `${phone}@s.whatsapp.net`, fromMe: false, id: '3A0FACE' }
  const payload = {
    id: `false_${lid}_3A0FACE`,
    timestamp: Math.floor(Date.now() / 1000),
    from: lid,
    fromMe: false,
    source: 'app',
    body: 'Me again',
    hasMedia: false,
    _data: { key, message: { conversation: 'Me again' } }
  }
  await unofficial.control('POST', `sessions/${paired.session}/event`, { event: 'message.any', payload })
  await hooks.got('the phone number', one => one.data.from === phone)
  const toPhone = await sent(phone, paired.id)
  await tenant.reaches(toPhone, 'read')
  for (const form of [phone, lid]) t.same(await listed(form), [toPhone, toLid])
  await toUnofficial({ from: lid, message: { kind: 'text', text: 'Only the hidden id' } })
  const again = await hooks.got(
    'the number that is known by now',
    one => (one.data.message as { text?: string } | undefined)?.text === 'Only the hidden id'
  )
  t.equal(again.event.data.from, phone)
  t.equal(await erase(lid), 2)
})

t.test('unofficial numbers: the number behind a hidden id is asked of the session', async t => {
  const lid = hiddenId()
  const phone = someone()
  await unofficial.control('POST', 'contacts', { lids: { [lid]: phone } })
  await toUnofficial({ from: lid })
  const { event } = await hooks.got('the phone number', one => one.data.from === phone)
  t.notMatch(JSON.stringify(event), /@lid/)
  await tenant.reaches(await sent(lid, paired.id), 'read')
  t.equal((await listed(phone)).length, 1)
})

t.test('official numbers cannot write to a hidden id: 422, a batch as a whole', async t => {
  const lid = hiddenId()
  const refused = await tenant.trySend(native.id, { to: lid })
  t.match(refused, { status: 422, body: { error: { code: 'validation_failed', details: [{ path: 'to' }] } } })
  const item = (to: string, key: string) => ({ to, content: { kind: 'text', text: 'a' }, idempotencyKey: key })
  const batch = await tenant.ask('POST', `/v1/channels/${native.id}/messages/batch`, {
    messages: [item(someone(), 'lid-1'), item(lid, 'lid-2')]
  })
  t.match(batch, {
    status: 422,
    body: { error: { code: 'validation_failed', details: [{ path: 'messages[1].to', message: /^item 2: / }] } }
  })
  t.equal((await tenant.trySend(native.id, { to: 'x@lid' })).status, 422)
})

t.test(
  'a reaction that the platform finds no target for fails as invalid_recipient, told at once or later',
  async t => {
    const to = someone()
    await heard(to, null)
    const target = await sent(to)
    await tenant.reaches(target, 'read')
    const react = async (key: string): Promise<string> => {
      const { body } = await tenant.ask<{ messageId: string }>('POST', `/v1/channels/${native.id}/messages`, {
        to,
        content: { kind: 'reaction', targetMessageId: target, emoji: '👍' },
        idempotencyKey: key
      })
      return body.messageId
    }
    await official.fault('refuse', { match: { to }, code: 131009 })
    await ends(await react('at once'), 'invalid_recipient')
    await official.fault('status_fail', { match: { to: `+${to}` }, code: 131009 })
    await ends(await react('later'), 'invalid_recipient')
    await official.fault('refuse', { match: { to }, code: 131009 })
    const text = await tenant.reaches(await sent(to), 'failed')
    t.equal(text.lastError, 'provider_rejected', 'of a text it is the value')
  }
)
