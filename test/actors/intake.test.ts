/** What a callback of the official platform does where several things happen at once. */
import t, { type Test } from 'tap'
import { createIntake, type IntakeOptions } from '../../src/actors/intake.ts'
import type { OfficialChange, Update } from '../../src/connectors/port.ts'
import type { ChannelRow } from '../../src/projections/port.ts'
import { at, id } from '../support/domain.ts'
import { openKeys } from '../support/keys.ts'

const TENANT = id('tn', 't')
const NUMBER_ID = 'pn1'
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

/** An intake that trusts whatever the default app signed, and the channels that each kind of news was told of. */
async function open(t: Test, { channels = [row('a', 'connected')] as readonly ChannelRow[] } = {}) {
  const { log, keyring } = openKeys(t)
  await keyring.createTenant(TENANT, at(0))
  const wishes: string[] = []
  /** The way of the messages whose text stands here is longer. */
  const slow = new Map<string, Promise<unknown>>()
  const options = {
    core: {
      log,
      keyring,
      views: { channelsByPhoneNumberId: () => channels },
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
      revealed: async (_channel: unknown, update: Extract<Update, { kind: 'inbound' }>) => {
        if (update.message.kind === 'text') await slow.get(update.message.text)
        return update
      }
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
  const post = (...updates: readonly Update[]) => {
    const part: OfficialChange = { phoneNumberId: NUMBER_ID, wabaId: null, updates }
    return intake.official(Buffer.from(JSON.stringify([part])), APP, 'tr')
  }
  return { post, wishes, slow }
}

t.test(
  'wishes of one person in one body keep their order, whichever takes longer and whatever names the person',
  async t => {
    const { post, wishes, slow } = await open(t)
    let release = (): void => undefined
    slow.set('START', new Promise<void>(resolve => (release = resolve)))
    const posted = post(
      inbound('1', 'START', { alias: 'BR.1' }),
      inbound('2', 'STOP'),
      inbound('3', 'STOP', { from: 'BR.1' }),
      { kind: 'opt_out', address: 'BR.1', optedOut: false, providerAt: at(0) },
      inbound('4', 'STOP', { from: '5511987654321' })
    )
    slow.set('STOP', new Promise(resolve => setImmediate(() => setImmediate(resolve))))
    await slow.get('STOP')
    release()
    t.same(await posted, { status: 200 })
    t.same(
      wishes.filter(wish => !wish.endsWith('4321')),
      ['in 5511912345678 BR.1', 'out 5511912345678', 'out BR.1', 'in BR.1']
    )
    t.ok(wishes.includes('out 5511987654321'))
  }
)
