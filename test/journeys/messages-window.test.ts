/** Quarantine and the enforced 24-hour window: rules that only a deployment's settings switch on. */
import t from 'tap'
import { WABA_ID } from '../support/platforms.ts'
import { type Channel, someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, { settings: { QUARANTINE_HOURS: '0.002', ENFORCE_24H_WINDOW: 'true' } })
const { official, unofficial } = world
const tenant = await world.tenant('acme')
const hooks = await tenant.receiver(t)
await official.control('POST', 'templates', {
  wabaId: WABA_ID,
  name: 'reminder',
  language: 'en',
  components: [{ type: 'BODY', text: 'See you tomorrow.' }]
})
type Quarantined = Channel & { quarantine: { active: boolean; until: string } }

t.test('quarantine: 409 after the first connection, over by itself at its end', async t => {
  const channel = await tenant.officialNumber(official)
  const shown = (await tenant.channel(channel.id)) as Quarantined
  t.match(shown, { state: 'connected', quarantine: { active: true, until: /Z$/ } })
  t.match(await tenant.trySend(channel.id), { status: 409, body: { error: { code: 'channel_quarantined' } } })
  const item = { to: someone(), content: { kind: 'text', text: 'a' }, idempotencyKey: 'quarantined' }
  const batch = await tenant.ask('POST', `/v1/channels/${channel.id}/messages/batch`, { messages: [item] })
  t.match(batch.body, {
    results: [{ idempotencyKey: 'quarantined', index: 0, error: { code: 'channel_quarantined' } }]
  })
  const from = someone()
  await official.inbound({
    phoneNumberId: channel.phoneNumberId,
    from,
    message: { type: 'text', text: { body: 'Hi' } }
  })
  await hooks.got('an inbound message', one => one.data.from === from)
  await new Promise(resolve => setTimeout(resolve, Date.parse(shown.quarantine.until) - Date.now() + 50))
  t.equal(((await tenant.channel(channel.id)) as Quarantined).quarantine.active, false)

  // ENFORCE_24H_WINDOW: a text only to who wrote within a day, a template to anybody.
  const cold = await tenant.send(channel.id)
  t.match(await tenant.reaches(cold.messageId, 'failed'), { lastError: 'outside_24h_window', attempts: 0 })
  t.same(await hooks.told(cold.messageId, 1), ['failed'])
  await tenant.reaches((await tenant.send(channel.id, { to: from })).messageId, 'read')
  const template = { kind: 'template', name: 'reminder', language: 'en' }
  await tenant.reaches((await tenant.send(channel.id, { content: template })).messageId, 'read')
})

t.test('quarantine and window: of an unofficial number only the quarantine', async t => {
  const paired = await tenant.unofficialNumber(unofficial, '5511955550005')
  const shown = (await tenant.channel(paired.id)) as Quarantined
  t.match(shown.quarantine, { active: true })
  t.match(await tenant.trySend(paired.id), { status: 409, body: { error: { code: 'channel_quarantined' } } })
  await new Promise(resolve => setTimeout(resolve, Date.parse(shown.quarantine.until) - Date.now() + 50))
  await tenant.reaches((await tenant.send(paired.id)).messageId, 'read')
})
