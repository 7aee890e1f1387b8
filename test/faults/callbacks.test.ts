/** Callbacks of the official platform: forged, doubled, reordered, batched, early and half unknown. */
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { WABA_ID } from '../support/platforms.ts'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, { official: { autoStatuses: false } })
const { official } = world
const tenant = await world.tenant('acme')
const channel = await tenant.officialNumber(official)
const second = await tenant.officialNumber(official)
const hooks = await tenant.receiver(t)

async function sent(ref = channel.id): Promise<{ messageId: string; wamid: string }> {
  const { messageId } = await tenant.send(ref)
  await tenant.reaches(messageId, 'sent')
  const send = (await official.sends()).find(one => one.callbackData === messageId)
  return { messageId, wamid: send?.wamid ?? '' }
}

type Number = { phoneNumberId: string; number: string }
const value = ({ phoneNumberId, number }: Number, content: object) => ({
  messaging_product: 'whatsapp',
  metadata: { display_phone_number: number, phone_number_id: phoneNumberId },
  ...content
})
const change = (number: Number, content: object) => ({ field: 'messages', value: value(number, content) })
const envelope = (...changes: object[]) => ({
  object: 'whatsapp_business_account',
  entry: [{ id: WABA_ID, changes }]
})
const at = (second = 0): string => String(Math.floor(Date.now() / 1000) + second)
const status = (wamid: string, name: string, more: object = {}) => ({
  id: wamid,
  status: name,
  timestamp: at(),
  recipient_id: '5511912345678',
  ...more
})
let inbounds = 0
const text = (body: string, from = someone()) => ({
  from,
  id: `wamid.inbound${++inbounds}`,
  timestamp: at(),
  type: 'text',
  text: { body }
})

t.test('a callback that is unsigned, wrongly signed or not of a known number is 403 and recorded nowhere', async t => {
  const { messageId, wamid } = await sent()
  const before = await tenant.track(messageId)
  const body = envelope(change(channel, { statuses: [status(wamid, 'read')], messages: [text('forged')] }))
  t.equal((await official.callback(body, false)).status, 403)
  t.equal((await official.callback(body, 'wrong')).status, 403)
  const stranger = { phoneNumberId: '999999999999999', number: '5511900009999' }
  t.equal((await official.callback(envelope(change(stranger, { messages: [text('lost')] })))).status, 403)
  t.same(await tenant.track(messageId), before)
  // What a true callback brings afterwards shows that the forged one would have come before it.
  await official.callback(envelope(change(channel, { messages: [text('true')] })))
  const { event } = await hooks.got('message.received', one => one.type === 'message.received')
  t.match(event.data.message, { text: 'true' })
})

t.test('all changes and all messages of one callback are taken', async t => {
  const [one, two, three] = [await sent(), await sent(), await sent(second.id)]
  const posted = await official.callback(
    envelope(
      change(channel, {
        statuses: [status(one.wamid, 'delivered'), status(two.wamid, 'read')],
        messages: [text('first'), text('second')]
      }),
      change(second, { statuses: [status(three.wamid, 'delivered')], messages: [text('third')] })
    )
  )
  t.equal(posted.status, 200)
  t.equal((await tenant.track(one.messageId)).state, 'delivered', 'durable when it is answered')
  t.equal((await tenant.track(two.messageId)).state, 'read')
  t.equal((await tenant.track(three.messageId)).state, 'delivered')
  for (const [words, channelId] of [
    ['first', channel.id],
    ['second', channel.id],
    ['third', second.id]
  ] as const)
    t.equal(
      (await hooks.got(words, ({ data }) => (data.message as { text?: string } | undefined)?.text === words)).event
        .channelId,
      channelId
    )
})

t.test('what is unknown in a callback does not harm what is known beside it', async t => {
  const { messageId, wamid } = await sent()
  const posted = await official.callback(
    envelope(
      { field: 'something_new', value: { anything: [1, 2] } },
      change(channel, {
        statuses: [
          status(wamid, 'warped', { novelty: { deep: true } }),
          null,
          { id: 17 },
          status('wamid.neverSeen', 'read'),
          status(wamid, 'delivered', { novelty: 1 })
        ],
        messages: [{ type: 'hologram' }, text('known')]
      })
    )
  )
  t.equal(posted.status, 200)
  t.equal((await tenant.track(messageId)).state, 'delivered')
  await hooks.got('known', ({ data }) => (data.message as { text?: string } | undefined)?.text === 'known')
})

t.test('the same status twice is one event; a status that moves nothing stands in the timeline only', async t => {
  const { messageId, wamid } = await sent()
  const read = envelope(change(channel, { statuses: [status(wamid, 'read')] }))
  t.equal((await official.callback(read)).status, 200)
  t.equal((await official.callback(read)).status, 200)
  await official.callback(envelope(change(channel, { statuses: [status(wamid, 'sent')] })))
  await official.callback(envelope(change(channel, { statuses: [status(wamid, 'delivered')] })))
  const tracked = await tenant.track(messageId)
  t.equal(tracked.state, 'read')
  t.same(
    tracked.events.slice(3).map(event => [event.state, event.outcome]),
    [
      ['read', 'ok'],
      ['sent', 'late'],
      ['delivered', 'late']
    ]
  )
  // Another message's event comes after whatever these callbacks would have brought.
  const later = await sent()
  await hooks.told(later.messageId, 2)
  t.same(hooks.storyOf(messageId), ['message.sent', 'sent', 'read'])
})

t.test('statuses in the wrong order end in the right state', async t => {
  const { messageId, wamid } = await sent()
  for (const name of ['read', 'delivered', 'sent'])
    await official.callback(envelope(change(channel, { statuses: [status(wamid, name)] })))
  t.equal((await tenant.track(messageId)).state, 'read')
  t.same(await hooks.told(messageId, 3), ['message.sent', 'sent', 'read'])
})

t.test('a status that comes before the answer of the send settles it, and the answer changes nothing', async t => {
  const to = someone()
  await official.fault('status_before_answer', { match: { to }, statuses: ['delivered'] })
  const { messageId } = await tenant.send(channel.id, { to })
  const tracked = await tenant.reaches(messageId, 'delivered')
  t.match(tracked, { attempts: 1, lastError: null })
  t.same(await hooks.told(messageId, 3), ['message.sent', 'sent', 'delivered'])
  await official.status({ callbackData: messageId, status: 'read' })
  await tenant.reaches(messageId, 'read')
  t.same(await hooks.told(messageId, 4), ['message.sent', 'sent', 'delivered', 'read'])
})

t.test('a report names a message of another number in vain', async t => {
  const { messageId } = await sent()
  const forged = status('wamid.other', 'read', { biz_opaque_callback_data: messageId })
  t.equal((await official.callback(envelope(change(second, { statuses: [forged] })))).status, 200)
  t.equal((await tenant.track(messageId)).state, 'sent')
})

t.test('five hundred updates in one callback are all durable when it is answered', async t => {
  const messages = Array.from({ length: 500 }, (_, n) => text(`bulk ${n}`, someone()))
  t.equal((await official.callback(envelope(change(channel, { messages })))).status, 200)
  await eventually(
    'all of them',
    () =>
      new Set(
        hooks
          .taken()
          .map(({ event }) => (event.data.message as { text?: string } | undefined)?.text ?? '')
          .filter(words => words.startsWith('bulk '))
      ).size === 500
  )
})
