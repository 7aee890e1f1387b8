/** Replies and reactions: what they point at on both kinds of numbers (channel-service, Messages, rules 2 and 3). */
import t from 'tap'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t)
const { official, unofficial } = world
const tenant = await world.tenant('acme')
const native = await tenant.officialNumber(official)
const paired = await tenant.unofficialNumber(unofficial, '5511955550008')
const hooks = await tenant.receiver(t)

const post = (ref: string, content: object, more: object = {}) => {
  const key = `content-${process.pid}-${Math.random()}`
  return tenant.ask<{ messageId: string }>('POST', `/v1/channels/${ref}/messages`, {
    to: someone(),
    content,
    idempotencyKey: key,
    ...more
  })
}
const officialSend = async (messageId: string) => (await official.sends()).find(send => send.callbackData === messageId)
const unofficialSends = async () =>
  (
    await unofficial.control<{ list: { endpoint: string; chatId: string; body: object; id: string }[] }>(
      'GET',
      'sends?list=1'
    )
  ).list
const sentEvent = async (messageId: string) =>
  (await hooks.got('message.sent', ({ type, data }) => type === 'message.sent' && data.messageId === messageId)).event

t.test('Messages, rule 3: reactions', async t => {
  const { body: target } = await post(native.id, { kind: 'text', text: 'React to me' })
  await tenant.reaches(target.messageId, 'read')
  const wamid = (await officialSend(target.messageId))?.wamid
  for (const name of ['targetMessageId', 'targetProviderMessageId']) {
    const { body } = await post(native.id, { kind: 'reaction', [name]: target.messageId, emoji: '👍' })
    await tenant.reaches(body.messageId, 'sent')
    t.match((await officialSend(body.messageId))?.body, {
      type: 'reaction',
      reaction: { message_id: wamid, emoji: '👍' }
    })
    t.same((await sentEvent(body.messageId)).data.content, {
      kind: 'reaction',
      targetMessageId: target.messageId,
      emoji: '👍'
    })
  }
  const lost = await post(native.id, { kind: 'reaction', targetMessageId: `msg_${'0'.repeat(26)}`, emoji: '👍' })
  t.match(await tenant.reaches(lost.body.messageId, 'failed'), { lastError: 'invalid_recipient', attempts: 0 })
  const refused = await post(paired.id, { kind: 'reaction', targetMessageId: target.messageId, emoji: '👍' })
  t.match(refused, { status: 422, body: { error: { code: 'unsupported_capability' } } })
})

t.test('Messages, rule 2: replies', async t => {
  const from = someone()
  const told = await official.inbound({
    phoneNumberId: native.phoneNumberId,
    from,
    message: { type: 'text', text: { body: 'A question' } }
  })
  const { event } = await hooks.got('it', one => one.type === 'message.received')
  const [wamid] = told.ids
  const rows = [
    ['the msg_ id of a received message', event.data.messageId, wamid],
    ['a raw provider id', wamid, wamid],
    ['an unknown msg_ id is dropped', `msg_${'1'.repeat(26)}`, undefined]
  ] as const
  for (const [name, replyToProviderId, quoted] of rows) {
    const { body } = await post(native.id, { kind: 'text', text: name }, { to: from, replyToProviderId })
    await tenant.reaches(body.messageId, 'read')
    const context = (await officialSend(body.messageId))?.body.context as { message_id: string } | undefined
    t.equal(context?.message_id, quoted, name)
  }
})

t.test('Messages, rule 2: replies on an unofficial number', async t => {
  const from = someone()
  const told = await unofficial.control<{ id: string }>('POST', `sessions/${paired.session}/inbound`, {
    from,
    message: { kind: 'text', text: 'Uma pergunta' }
  })
  const { event } = await hooks.got('it', ({ data }) => data.from === from)
  const rows = [
    ['quoted by msg_ id', event.data.messageId, told.id],
    ['quoted by raw id', told.id, told.id],
    ['unknown is dropped', `msg_${'1'.repeat(26)}`, undefined]
  ] as const
  for (const [name, replyToProviderId, quoted] of rows) {
    const { body } = await post(paired.id, { kind: 'text', text: name }, { to: from, replyToProviderId })
    await tenant.reaches(body.messageId, 'read')
    const sent = (await unofficialSends()).find(send => (send.body as { text?: string }).text === name)
    t.equal((sent?.body as { reply_to?: string } | undefined)?.reply_to, quoted, name)
  }
})
