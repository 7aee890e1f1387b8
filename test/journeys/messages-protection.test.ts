/** Breaker, restriction, quarantine, opt-out, the 24-hour window and late failures, one row a rule. */
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { type Accepted, type Channel, someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, {
  settings: { OPT_OUT_KEYWORDS: 'STOP,SAIR', BREAKER_FAILURES: '10', BREAKER_WINDOW_SECONDS: '300' }
})
const { official, unofficial } = world
const tenant = await world.tenant('acme')
const hooks = await tenant.receiver(t)

type Result = { messageId?: string; error?: { code: string } }
let keys = 0
const item = (to = someone(), content: object = { kind: 'text', text: 'Hi' }) => ({
  to,
  content,
  idempotencyKey: `protection-${++keys}`
})
const batch = async (ref: string, messages: object[]) =>
  (await tenant.ask<{ results: Result[] }>('POST', `/v1/channels/${ref}/messages/batch`, { messages })).body.results
const flags = (id: string, wanted: (channel: Channel) => boolean) =>
  eventually('the flag', async () => {
    const channel = await tenant.channel(id)
    return wanted(channel) && channel
  })
const inbound = (phoneNumberId: string, from: string, body: string) =>
  official.inbound({ phoneNumberId, from, message: { type: 'text', text: { body } } })

/** A late failure by the platform's code, as `errorCode` of `message.status` and `lastError` of tracking. */
const LATE: readonly (readonly [number, string])[] = [
  [131026, 'invalid_recipient'],
  [131047, 'outside_24h_window'],
  [131050, 'recipient_opted_out'],
  [132001, 'template_call_invalid'],
  [131049, 'provider_rejected'],
  [131000, 'provider_rejected'],
  [999_999, 'provider_rejected']
]
t.test('Events, message.status failed: codes of failures that the platform reports later', async t => {
  const channel = await tenant.officialNumber(official)
  for (const [code, errorCode] of LATE) {
    const to = someone()
    await official.fault('status_fail', { match: { to }, code })
    const { messageId } = await tenant.send(channel.id, { to })
    t.match(await tenant.reaches(messageId, 'failed'), { lastError: errorCode }, String(code))
    t.same(await hooks.told(messageId, 3), ['message.sent', 'sent', 'failed'])
    const { event } = await hooks.got('it', one => one.data.messageId === messageId && one.data.status === 'failed')
    t.same(event.data, { messageId, status: 'failed', errorCode })
  }
})

t.test('limited: ten failures of the provider block all sending; nothing of it is queued or told', async t => {
  const channel = await tenant.officialNumber(official)
  await official.fault('refuse', { match: { phoneNumberId: channel.phoneNumberId }, code: 131051, times: 0 })
  for (let n = 0; n < 9; n++) await tenant.reaches((await tenant.send(channel.id)).messageId, 'failed')
  // Our own findings do not count.
  const own = await batch(channel.id, [
    item(someone(), { kind: 'reaction', targetMessageId: `msg_${'0'.repeat(26)}`, emoji: '👍' })
  ])
  await tenant.reaches(own[0]?.messageId ?? '', 'failed')
  t.equal((await tenant.channel(channel.id)).limited.active, false)
  const tenth = await tenant.send(channel.id)
  t.match(await tenant.reaches(tenth.messageId, 'failed'), { lastError: 'provider_rejected' })
  const limited = await flags(channel.id, one => one.limited.active)
  t.equal(limited.state, 'connected', 'the state stays')
  t.match(limited.limited.since, /Z$/)
  const refused = await tenant.trySend(channel.id)
  t.match(refused, { status: 409, body: { error: { code: 'channel_limited' } } })
  t.same(await batch(channel.id, [item(), item()]).then(all => all.map(one => one.error)), [
    { code: 'channel_limited' },
    { code: 'channel_limited' }
  ])
  t.equal(
    hooks.all().filter(hook => hook.event.type === 'channel.status' && hook.event.channelId === channel.id).length,
    1
  )
})

t.test('restricted: 409 for a new contact only, and what waits for one fails', async t => {
  const channel = await tenant.officialNumber(official)
  const [heard, written] = [someone(), someone()]
  await inbound(channel.phoneNumberId, heard, 'Hello')
  await tenant.reaches((await tenant.send(channel.id, { to: written })).messageId, 'read')
  const waiting = someone()
  await official.fault('throttle', { match: { to: waiting }, code: 131056 })
  const stuck = await tenant.send(channel.id, { to: waiting })
  await tenant.reaches(stuck.messageId, 'retrying')
  await official.control('POST', 'account', { kind: 'restriction', phoneNumberId: channel.phoneNumberId })
  const restricted = await flags(channel.id, one => one.restricted.active)
  t.match(restricted, { state: 'connected', restricted: { active: true, until: /Z$/ } })
  t.match(await tenant.trySend(channel.id), { status: 409, body: { error: { code: 'channel_restricted' } } })
  const results = await batch(channel.id, [item(), item(heard), item(written)])
  t.same(results[0]?.error, { code: 'channel_restricted' })
  for (const one of results.slice(1)) await tenant.reaches(one.messageId ?? '', 'read')
  t.match(await tenant.reaches(stuck.messageId, 'failed'), { lastError: 'channel_restricted' })
})

t.test('restricted: a send that the platform refuses for it sets the flag', async t => {
  for (const late of [false, true]) {
    const channel = await tenant.officialNumber(official)
    const to = someone()
    await official.fault(late ? 'status_fail' : 'refuse', { match: { to }, code: 131048 })
    const { messageId } = await tenant.send(channel.id, { to })
    t.match(await tenant.reaches(messageId, 'failed'), { lastError: 'channel_restricted' })
    await flags(channel.id, one => one.restricted.active)
    t.pass(late ? 'told in a report' : 'told at once')
  }
})

t.test('restricted: an unofficial session that reports it', async t => {
  const paired = await tenant.unofficialNumber(unofficial, '5511955550004')
  const until = new Date(Date.now() + 3_600_000).toISOString()
  await unofficial.control('POST', `sessions/${paired.session}/restrict`, { until })
  const channel = await flags(paired.id, one => one.restricted.active)
  t.equal(channel.restricted.until?.slice(0, 19), until.slice(0, 19))
  t.match(await tenant.trySend(paired.id), { status: 409, body: { error: { code: 'channel_restricted' } } })
})

t.test('recipient_opted_out: by keyword, undone by the other keyword, for that tenant only', async t => {
  const channel = await tenant.officialNumber(official)
  const other = await world.tenant('globex')
  const theirs = await other.officialNumber(official)
  const to = someone()
  await inbound(channel.phoneNumberId, to, '  sair ')
  await hooks.got('it', one => one.data.from === to)
  const refused = await tenant.send(channel.id, { to })
  t.match(await tenant.reaches(refused.messageId, 'failed'), { lastError: 'recipient_opted_out', attempts: 0 })
  t.same(await hooks.told(refused.messageId, 1), ['failed'])
  await other.reaches((await other.send(theirs.id, { to })).messageId, 'read')
  await inbound(channel.phoneNumberId, to, 'not START at all')
  const still = await tenant.send(channel.id, { to })
  t.match(await tenant.reaches(still.messageId, 'failed'), { lastError: 'recipient_opted_out' })
  await inbound(channel.phoneNumberId, to, 'start')
  const again: Accepted = await tenant.send(channel.id, { to })
  await tenant.reaches(again.messageId, 'read')
})

t.test('recipient_opted_out: by the preference that the platform tells', async t => {
  const channel = await tenant.officialNumber(official)
  const to = someone()
  const prefer = (value: string) =>
    official.control('POST', 'account', {
      kind: 'user_preferences',
      phoneNumberId: channel.phoneNumberId,
      waId: to,
      value
    })
  await prefer('stop')
  const refused = await tenant.send(channel.id, { to })
  t.match(await tenant.reaches(refused.messageId, 'failed'), { lastError: 'recipient_opted_out', attempts: 0 })
  await prefer('resume')
  await tenant.reaches((await tenant.send(channel.id, { to })).messageId, 'read')
})

t.test('an erasure keeps an opt-out, as a keyed hash', async t => {
  const channel = await tenant.officialNumber(official)
  const to = someone()
  await inbound(channel.phoneNumberId, to, 'STOP')
  await hooks.got('it', one => one.data.from === to)
  t.equal((await tenant.ask('POST', '/v1/erasure', { contact: to })).status, 200)
  const refused = await tenant.send(channel.id, { to })
  t.match(await tenant.reaches(refused.messageId, 'failed'), { lastError: 'recipient_opted_out' })
})

t.test('an own app secret decides for its number, and says nothing of another account holder', async t => {
  const { phoneNumberId, number } = await official.newNumber()
  const answer = await tenant.ask<Channel>('POST', '/v1/channels', {
    provider: 'official_platform',
    kind: 'official',
    label: 'Own app',
    credentials: {
      phoneNumberId,
      wabaId: '200000000000001',
      accessToken: 'EAABtokenOfTheTest',
      platformAppId: '9001',
      platformAppSecret: 'another-secret'
    }
  })
  t.equal(answer.status, 201)
  const body = {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '200000000000001',
        changes: [
          {
            field: 'messages',
            value: {
              metadata: { display_phone_number: number, phone_number_id: phoneNumberId },
              messages: [
                { from: someone(), id: 'wamid.own', timestamp: '1700000000', type: 'text', text: { body: 'x' } }
              ]
            }
          }
        ]
      }
    ]
  }
  t.equal((await official.callback(body)).status, 403, 'the default app may not speak for it')
  // The account is shared with numbers of the default app: a restriction that is signed by that app is theirs alone.
  await official.control('POST', 'account', { kind: 'restriction', phoneNumberId })
  const others = await tenant.ask<{ items: Channel[] }>('GET', '/v1/channels?limit=100')
  await flags(
    others.body.items.find(one => one.id !== answer.body.id && one.kind === 'official')?.id ?? '',
    one => one.restricted.active
  )
  t.equal((await tenant.channel(answer.body.id)).restricted.active, false)
})
