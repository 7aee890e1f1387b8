/**
 * Provider callbacks, mutated: nothing crashes, every answer is 2xx or a clean 4xx, no message leaves the state table,
 * what is forged is recorded nowhere and what is right arrives in between. `FUZZ=100000` and `SEED=n` for a long run.
 */
import { createHmac } from 'node:crypto'
import t from 'tap'
import { Pool } from 'undici'
import { callbackKey } from '../../src/actors/intake.ts'
import { verifyDataDir } from '../../src/log/sqlite/verify-data-dir.ts'
import { eventually } from '../support/eventually.ts'
import { createMutator } from '../support/mutation.ts'
import { APP_SECRET, WABA_ID } from '../support/platforms.ts'
import { someone, type Tracked } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const COUNT = Number(process.env.FUZZ ?? 2_000)
const SEED = Number(process.env.SEED ?? 20_251)
const AT_ONCE = 16
/** One in so many bodies is right, and one in so many is right but forged. */
const RIGHT_EVERY = 20
const FORGED_EVERY = 15
const ROOT = 'root-of-the-callback-keys-of-the-test'

const world = await startWorld(t, {
  official: { autoStatuses: false },
  settings: { UNOFFICIAL_WEBHOOK_SECRET: ROOT }
})
const { official, unofficial, url } = world
const tenant = await world.tenant('acme')
const channel = await tenant.officialNumber(official)
const paired = await tenant.unofficialNumber(unofficial, '5511955550007')
const hooks = await tenant.receiver(t)
await unofficial.control('POST', 'settings', { autoAcks: false })

const { random, pick, mutate, bytesOf } = createMutator(SEED)

type Sent = { readonly messageId: string; readonly providerId: string }
const officialSent: Sent[] = []
const unofficialSent: Sent[] = []
for (let n = 0; n < 12; n++) {
  const { messageId } = await tenant.send(channel.id)
  await tenant.reaches(messageId, 'sent')
  officialSent.push({ messageId, providerId: (await official.sends()).at(-1)?.wamid ?? '' })
}
for (let n = 0; n < 8; n++) {
  const { messageId } = await tenant.send(paired.id, { text: `Out ${n}` })
  await tenant.reaches(messageId, 'sent')
  unofficialSent.push({ messageId, providerId: (await unofficial.sends()).at(-1)?.id ?? '' })
}
/** Told of rightly only: a mutated report may well be a true one of another kind. */
const spared = [...officialSent.splice(0, 4)]
const sparedUnofficial = [...unofficialSent.splice(0, 3)]
const before = new Map<string, Tracked>()
for (const { messageId } of [...spared, ...sparedUnofficial]) before.set(messageId, await tenant.track(messageId))

let ids = 0
const seconds = (): number => Math.floor(Date.now() / 1000)
const envelope = (value: object, field = 'messages') => ({
  object: 'whatsapp_business_account',
  entry: [{ id: WABA_ID, changes: [{ field, value }] }]
})
const metadata = { display_phone_number: channel.number, phone_number_id: channel.phoneNumberId }
const news = (content: object) => envelope({ messaging_product: 'whatsapp', metadata, ...content })
const inbound = (message: object, from = someone()) =>
  news({
    contacts: [{ profile: { name: 'Ana' }, wa_id: from }],
    messages: [{ from, id: `wamid.FUZZ${++ids}`, timestamp: String(seconds()), ...message }]
  })
const statusOf = ({ messageId, providerId }: Sent, status: string, more: object = {}) =>
  news({
    statuses: [
      {
        id: providerId,
        status,
        timestamp: String(seconds()),
        recipient_id: '5511912345678',
        biz_opaque_callback_data: messageId,
        ...more
      }
    ]
  })
const event = (name: string, payload: object) => ({
  id: `evt_fuzz${++ids}`,
  timestamp: Date.now(),
  event: name,
  session: paired.session,
  me: { id: '5511955550007@c.us', pushName: 'Shop' },
  engine: 'NOWEB',
  payload
})
const message = (text: string, from = someone(), more: object = {}) =>
  event('message.any', {
    id: `false_${from}@c.us_FUZZ${++ids}`,
    timestamp: seconds(),
    from: `${from}@c.us`,
    fromMe: false,
    source: 'app',
    to: null,
    body: text,
    hasMedia: false,
    media: null,
    replyTo: null,
    _data: { pushName: 'Ana', message: { conversation: text } },
    ...more
  })

const OFFICIAL: readonly (() => object)[] = [
  () => inbound({ type: 'text', text: { body: 'fuzz' }, context: { id: pick(officialSent).providerId } }),
  () => inbound({ type: 'image', image: { id: '77', mime_type: 'image/jpeg', caption: 'c' } }),
  () => inbound({ type: 'reaction', reaction: { message_id: pick(officialSent).providerId, emoji: '👍' } }),
  () => inbound({ type: 'interactive', interactive: { type: 'list_reply', list_reply: { id: 'a', title: 'b' } } }),
  () => statusOf(pick(officialSent), pick(['sent', 'delivered', 'read'])),
  () =>
    statusOf(pick(officialSent), 'failed', { errors: [{ code: 131026, title: 'x', error_data: { details: 'y' } }] }),
  () =>
    envelope(
      { event: 'ACCOUNT_RESTRICTION', restriction_info: [{ restriction_type: 'OTHER', expiration: 1 }] },
      'account_update'
    ),
  () =>
    envelope(
      { event: 'APPROVED', message_template_id: 1, message_template_name: 'n', message_template_language: 'en' },
      'message_template_status_update'
    ),
  () => envelope({ metadata, user_preferences: [{ wa_id: someone(), value: 'stop' }] }, 'user_preferences')
]
const UNOFFICIAL: readonly (() => object)[] = [
  () => message('fuzz'),
  () =>
    message('', someone(), {
      hasMedia: true,
      media: { url: 'http://localhost:3000/api/files/none.jpeg', mimetype: 'image/jpeg' }
    }),
  () => message('fuzz', someone(), { replyTo: { id: pick(unofficialSent).providerId } }),
  () => message('fuzz', someone(), { fromMe: true, source: 'api' }),
  () => {
    const { providerId } = pick(unofficialSent)
    return event('message.ack', {
      id: providerId,
      from: '5511900000000@c.us',
      fromMe: true,
      ack: pick([-1, 1, 2, 3, 4]),
      ackName: 'READ'
    })
  },
  () => {
    const from = someone()
    const reaction = { text: '👍', messageId: pick(unofficialSent).providerId }
    return event('message.reaction', {
      id: `false_${from}@c.us_R${++ids}`,
      from: `${from}@c.us`,
      fromMe: false,
      timestamp: seconds(),
      reaction
    })
  },
  () => event('session.status', { status: 'WORKING', statuses: [] })
]

type Shot = { readonly path: string; readonly bytes: Buffer; readonly headers: Record<string, string> }
const key = callbackKey(Buffer.from(ROOT), paired.session)
type Signing = 'right' | 'wrong' | 'none'

function toOfficial(bytes: Buffer, signing: Signing): Shot {
  const secret = signing === 'right' ? APP_SECRET : 'somebody else'
  const signature = `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`
  return { path: '/webhooks/official', bytes, headers: signing === 'none' ? {} : { 'x-hub-signature-256': signature } }
}
function toUnofficial(bytes: Buffer, signing: Signing): Shot {
  const hmac = createHmac('sha512', signing === 'right' ? key : 'somebody else')
    .update(bytes)
    .digest('hex')
  const headers = { 'x-webhook-hmac': hmac, 'x-webhook-hmac-algorithm': 'sha512' }
  return { path: `/webhooks/unofficial/${paired.session}`, bytes, headers: signing === 'none' ? {} : headers }
}

const expected = new Set<string>()
const jsonBytes = (body: object): Buffer => Buffer.from(JSON.stringify(body))

function right(n: number): Shot {
  const text = `right ${n}`
  expected.add(text)
  return n % 2 === 0
    ? toOfficial(jsonBytes(inbound({ type: 'text', text: { body: text } })), 'right')
    : toUnofficial(jsonBytes(message(text)), 'right')
}
function forged(n: number): Shot {
  const signing = pick(['wrong', 'none'] as const)
  switch (n % 4) {
    case 0:
      return toOfficial(jsonBytes(inbound({ type: 'text', text: { body: `forged ${n}` } })), signing)
    case 1:
      return toUnofficial(jsonBytes(message(`forged ${n}`)), signing)
    case 2:
      return toOfficial(jsonBytes(statusOf(pick(spared), 'failed', { errors: [{ code: 131026 }] })), signing)
    default:
      return toUnofficial(
        jsonBytes(event('message.ack', { id: pick(sparedUnofficial).providerId, fromMe: true, ack: -1 })),
        signing
      )
  }
}

type Answered = { readonly kind: 'right' | 'forged' | 'mutated'; readonly status: number }
const counts = new Map<string, number>()
const bad: string[] = []

async function fire(pool: Pool, kind: Answered['kind'], { path, bytes, headers }: Shot): Promise<void> {
  const started = performance.now()
  const answer = await pool.request({
    method: 'POST',
    path,
    body: bytes,
    headers: { 'content-type': 'application/json', ...headers }
  })
  const body = await answer.body.text()
  const status = answer.statusCode
  counts.set(`${kind} ${status}`, (counts.get(`${kind} ${status}`) ?? 0) + 1)
  const clean = status === 200 || (status < 500 && /"code":"[a-z_]+"/.test(body))
  const fits = kind === 'right' ? status === 200 : kind === 'forged' ? status === 403 : clean
  if (!fits || performance.now() - started > 15_000)
    bad.push(`${kind} ${status} ${body.slice(0, 200)} for ${bytes.toString().slice(0, 400)}`)
}

const NEXT: Readonly<Record<string, readonly string[]>> = {
  queued: ['dispatching', 'failed'],
  dispatching: ['sent', 'retrying', 'failed', 'indeterminate'],
  retrying: ['dispatching', 'failed', 'sent'],
  indeterminate: ['sent', 'retrying', 'failed'],
  // The platform's own first report of an accepted message stands beside the acceptance.
  sent: ['sent', 'delivered', 'read', 'failed'],
  delivered: ['read', 'failed'],
  read: [],
  failed: []
}
/** Steps of a timeline that the table of decisions §3 does not know. */
function strayIn({ events, state }: Tracked): readonly string[] {
  const steps = events.filter(one => one.outcome !== 'late').map(one => one.state)
  const stray = steps.slice(1).filter((step, index) => !NEXT[steps[index] ?? '']?.includes(step))
  return steps.at(-1) === state ? stray : [...stray, `ends in ${state}`]
}

t.test(`${COUNT} callbacks, seed ${SEED}`, { timeout: 3_600_000 }, async t => {
  const pool = new Pool(url, { connections: AT_ONCE })
  t.teardown(() => pool.close())
  let next = 0
  const started = performance.now()
  async function shooter(): Promise<void> {
    while (next < COUNT) {
      const n = next++
      if (n % RIGHT_EVERY === 0) await fire(pool, 'right', right(n / RIGHT_EVERY))
      else if (n % FORGED_EVERY === 0) await fire(pool, 'forged', forged(n / FORGED_EVERY))
      else if (random() < 0.5) await fire(pool, 'mutated', toOfficial(bytesOf(mutate(pick(OFFICIAL)())), 'right'))
      else await fire(pool, 'mutated', toUnofficial(bytesOf(mutate(pick(UNOFFICIAL)())), 'right'))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, shooter))
  const tookMs = Math.round(performance.now() - started)
  t.comment(`${JSON.stringify(Object.fromEntries([...counts].sort()))} in ${tookMs} ms`)
  t.same(bad.slice(0, 5), [], 'every answer is as it should be')

  const textOf = (data: Readonly<Record<string, unknown>>) => (data.message as { text?: unknown } | undefined)?.text
  const received = (): readonly unknown[] =>
    hooks
      .taken()
      .filter(hook => hook.event.type === 'message.received')
      .map(hook => textOf(hook.event.data))
  const missing = (): readonly string[] => {
    const texts = new Set(received())
    return [...expected].filter(text => !texts.has(text))
  }
  const limitMs = 30_000 + COUNT * 5
  await eventually('all that is right', () => missing().length === 0, { limitMs, seen: () => missing().slice(0, 9) })
  const seen = received()
  t.equal(seen.filter(text => expected.has(String(text))).length, expected.size, 'each of them once')
  t.notOk(
    seen.some(text => /^forged/.test(String(text))),
    'nothing forged'
  )

  for (const { messageId } of [...spared, ...sparedUnofficial])
    t.same(await tenant.track(messageId), before.get(messageId), 'what was forged moved nothing')
  for (const { messageId } of [...officialSent, ...unofficialSent]) {
    const tracked = await tenant.track(messageId)
    t.same(strayIn(tracked), [], `${messageId} kept to the table and ends ${tracked.state}`)
  }
  for (const one of spared) {
    const report = toOfficial(jsonBytes(statusOf(one, 'read')), 'right')
    await fire(pool, 'right', report)
    await tenant.reaches(one.messageId, 'read')
  }
  const later = await tenant.send(channel.id)
  t.match(await tenant.reaches(later.messageId, 'sent'), { attempts: 1 }, 'it still sends')
  t.notMatch(world.service.output(), /"level":(50|60)|uncaught|unhandled/i, 'no error in its lines')
})

t.test('the log stands unbroken', async t => {
  await world.service.stop()
  t.match(await verifyDataDir(world.dataDir), { ok: true })
})
