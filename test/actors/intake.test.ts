/** Callbacks of the official platform: whose they are while the views lag, and what keeps its order. */
import t, { type Test } from 'tap'
import { createIntake, type IntakeOptions } from '../../src/actors/intake.ts'
import type { OfficialChange, Update } from '../../src/connectors/port.ts'
import { LogUnavailable, NO_STREAM } from '../../src/log/port.ts'
import type { ChannelRow } from '../../src/projections/port.ts'
import { at, id } from '../support/domain.ts'
import { openKeys } from '../support/keys.ts'

const TENANT = id('tn', 't')
const APP = 'default app'

const row = (name: string, state: string): ChannelRow =>
  ({ id: id('ch', name), tenantId: TENANT, kind: 'official', state, number: '5511900000001' }) as ChannelRow

const inbound = (providerId: string, text: string, more: object = {}): Update => ({
  kind: 'inbound',
  providerId,
  from: '5511912345678',
  alias: null,
  profileName: null,
  quotedProviderId: null,
  message: { kind: 'text', text },
  providerAt: at(0),
  ...more
})

type Lag = {
  readonly shown: readonly ChannelRow[]
  /** What the views show when they have caught up; null: they do not in time. */
  readonly caughtUp?: readonly ChannelRow[] | null
  /** Deleted as of the log. */
  readonly gone?: string
}

/** An intake that trusts whatever the default app signed, and what it told whom. */
async function open(t: Test, { shown, caughtUp = shown, gone }: Lag) {
  const { log, keyring } = openKeys(t)
  await keyring.createTenant(TENANT, at(0))
  const meta = JSON.stringify({ tenant: TENANT, trace: null, cause: null, source: 'test', at: at(0) })
  const body = JSON.stringify({ v: 1, data: { source: 'admin' } })
  if (gone) await log.append(`channel-${gone}`, NO_STREAM, [{ id: id('evt'), type: 'ChannelDeleted', body, meta }])
  const wishes: string[] = []
  const heard: string[] = []
  let rows = shown
  let waits = 0
  /** The way of the messages whose text stands here is longer. */
  const slow = new Map<string, Promise<unknown>>()
  const options = {
    core: {
      log,
      keyring,
      views: {
        channelsByPhoneNumberId: () => rows,
        async caughtUp() {
          waits++
          rows = caughtUp ?? rows
          return caughtUp !== null
        }
      },
      own: { wrote: () => undefined },
      clock: { now: () => Date.parse(at(60)) },
      processId: 'node'
    },
    officialCallbacks: {
      verify: (secret: string, _body: Buffer, signature: string) => secret === signature,
      parse: (body: unknown) => body as readonly OfficialChange[]
    },
    lines: { appSecret: async () => null },
    identities: { seen: async (_channel: unknown, contact: unknown) => contact },
    hiddenIds: {
      async revealed(channel: ChannelRow, update: Extract<Update, { kind: 'inbound' }>) {
        heard.push(`message ${channel.id}`)
        if (update.message.kind === 'text') await slow.get(update.message.text)
        return update
      }
    },
    reports: {
      status: async (channels: readonly ChannelRow[]) =>
        void heard.push(`status ${channels.map(channel => channel.id).join(' ')}`)
    },
    media: { received: () => undefined },
    optOuts: {
      wishOf: (text: string) => (text === 'Hi' ? null : { out: text === 'STOP', by: 'keyword' }),
      set: async (_tenantId: string, addresses: readonly string[], wish: { out: boolean }) =>
        void wishes.push(`${wish.out ? 'out' : 'in'} ${addresses.join(' ')}`)
    },
    appSecret: APP
  }
  const intake = createIntake(options as unknown as IntakeOptions)
  const part = (...updates: readonly Update[]): OfficialChange => ({ phoneNumberId: 'pn1', wabaId: null, updates })
  const send = (parts: readonly OfficialChange[], signature = APP) =>
    intake.official(Buffer.from(JSON.stringify(parts)), signature, 'tr')
  const post = (...updates: readonly Update[]) => send([part(...updates)])
  return { post, send, part, wishes, heard, slow, waits: () => waits }
}

const [former, current] = [row('a', 'deleted'), row('b', 'connected')]
/** The former one as views that lag show it. */
const stillLive = row('a', 'connected')
const status: Update = {
  kind: 'status',
  providerId: 's',
  messageId: null,
  status: 'read',
  code: null,
  reactionCode: null,
  providerCode: null,
  restriction: null,
  providerAt: null,
  address: null,
  alias: null
}

t.test('wishes of one person in one body keep their order, whichever takes longer', async t => {
  const { post, wishes, slow } = await open(t, { shown: [current] })
  let release = (): void => undefined
  slow.set('START', new Promise<void>(resolve => (release = resolve)))
  const posted = post(
    inbound('1', 'START', { alias: 'BR.1' }),
    inbound('2', 'STOP'),
    inbound('3', 'STOP', { from: 'BR.1' }),
    { kind: 'opt_out', address: 'BR.1', optedOut: false, providerAt: at(0) },
    inbound('4', 'STOP', { from: '5511987654321' })
  )
  // Time enough for whoever does not wait for its turn.
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  t.same(wishes, ['out 5511987654321'], 'others do not wait')
  release()
  t.same(await posted, { status: 200 })
  t.same(wishes.slice(1), ['in 5511912345678 BR.1', 'out 5511912345678', 'out BR.1', 'in BR.1'])
})

t.test('a number that the views do not know as live may have been connected since', async t => {
  for (const shown of [[], [former]]) {
    const { post, heard, waits } = await open(t, { shown, caughtUp: [current, former] })
    t.same(await post(inbound('1', 'Hi'), status), { status: 200 })
    t.same(heard.toSorted(), [`message ${current.id}`, `status ${current.id} ${former.id}`])
    t.equal(waits(), 1)
  }
})

t.test('what is sent to a number that another tenant has by now is not told to the former one', async t => {
  const { post, heard } = await open(t, { shown: [stillLive], caughtUp: [current, former], gone: former.id })
  t.same(await post(inbound('1', 'Hi')), { status: 200 })
  t.same(heard, [`message ${current.id}`])
})

t.test('while nobody can tell whose a callback is, the platform is asked to come again', async t => {
  for (const shown of [[], [former], [stillLive]]) {
    const { post, heard } = await open(t, { shown, caughtUp: null, gone: former.id })
    await t.rejects(post(inbound('1', 'Hi')), LogUnavailable)
    t.same(heard, [])
  }
})

t.test('a number that is nobody’s is 403; one wait is enough for a body', async t => {
  const { send, part, waits } = await open(t, { shown: [] })
  t.same(await send([part(status), part(status)]), { status: 403 })
  t.equal(waits(), 1)
})

t.test('strangers make nobody wait, and what is known does not either', async t => {
  const unknown = await open(t, { shown: [former], caughtUp: null })
  t.same(await unknown.send([unknown.part(status)], 'forged'), { status: 403 })
  const known = await open(t, { shown: [current, former], caughtUp: null })
  t.same(await known.post(inbound('1', 'Hi'), status), { status: 200 })
  t.equal(unknown.waits() + known.waits(), 0)
})
