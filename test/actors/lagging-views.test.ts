/** What is final is decided when the views have seen the end of the log, whatever they said before. */
import t from 'tap'
import { startBreaker } from '../../src/actors/breaker.ts'
import type { Core } from '../../src/actors/core.ts'
import { createDispatchGate } from '../../src/actors/dispatch-gate.ts'
import type { OptOuts } from '../../src/actors/opt-outs.ts'
import { createReports, type EchoUpdate } from '../../src/actors/reports.ts'
import type { Channel } from '../../src/domain/channel.ts'
import type { ChannelRow, PageDone, QueueRow } from '../../src/projections/port.ts'
import { at, id } from '../support/domain.ts'
import { openKeys } from '../support/keys.ts'

const TENANT = id('tn', 't')
const CHANNEL = id('ch', 'a')

/** Views that lag until somebody waits for them. */
function lagging<V extends object>(answers: (isBehind: boolean) => V) {
  let isBehind = true
  const waited = {
    async caughtUp() {
      isBehind = false
      return true
    }
  }
  const views = new Proxy(waited, {
    get: (target, name) => Reflect.get(target, name) ?? Reflect.get(answers(isBehind), name)
  })
  return views as unknown as Core['views']
}

const log = { head: async () => 7 } as unknown as Core['log']
const clock = { now: () => Date.parse(at(60)) } as unknown as Core['clock']
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('the echo of a send that the views have not seen begin is compared with it', async t => {
  const { keyring } = openKeys(t)
  await keyring.createTenant(TENANT, at(0))
  const compared: string[] = []
  const views = lagging(isBehind => ({
    messageByProviderId: () => null,
    hasInDoubt: () => !isBehind,
    queued: (_channel: string, state: string) => {
      compared.push(`${state}, ${isBehind ? 'behind' : 'seen'}`)
      return []
    }
  }))
  const reports = createReports(
    { keyring, log, clock, views } as unknown as Core,
    { seen: async () => undefined } as never
  )
  const echo = { kind: 'echo', api: true, providerId: 'ABC', address: '5511912345678', text: 'hello', providerAt: null }
  await reports.echo({ id: CHANNEL, tenantId: TENANT } as ChannelRow, echo as EchoUpdate, 'tr')
  t.same(compared, ['indeterminate, seen', 'dispatching, seen'])
})

t.test('a message fails as sent to a stranger only when nothing newer says otherwise', async t => {
  const views = lagging(isBehind => ({ knows: () => !isBehind, lastInboundAt: () => (isBehind ? null : at(50)) }))
  const optOuts = { has: async () => false } as unknown as OptOuts
  const channel = { id: CHANNEL, kind: 'official', restricted: { until: null } } as unknown as Channel
  const row = { tenantId: TENANT, contactId: id('ct', 'c') } as unknown as QueueRow
  const gate = createDispatchGate({ views, log, clock } as unknown as Core, optOuts, true)
  t.equal(await gate.refusal(channel, row, '5511912345678', 'text'), null)
  const unknown = lagging(() => ({ knows: () => false }))
  const strict = createDispatchGate({ views: unknown, log, clock } as unknown as Core, optOuts, true)
  t.equal(await strict.refusal(channel, row, '5511912345678', 'text'), 'channel_restricted')
})

t.test('a number is not limited for failures from before a release that the views have not seen', async t => {
  const asked: string[] = []
  let tell: (page: PageDone) => void = () => undefined
  function start(failuresBehind: number, failuresSeen: number): void {
    const answers = lagging(isBehind => ({
      failuresSince: () => (isBehind ? failuresBehind : failuresSeen),
      onPage: (listener: typeof tell) => {
        tell = listener
      }
    }))
    const channels = {
      read: async () => ({ tenantId: TENANT, limitedSince: null, state: 'connected' }),
      ask: async (_stream: string, { type }: { type: string }) => void asked.push(type)
    }
    const core = { views: answers, log, clock, aggregates: { channels }, works: () => true, processId: 'node' }
    startBreaker({ core: core as unknown as Core, failures: 10, windowMs: 300_000 })
  }
  const failed: PageDone = { position: 7, touched: { failure: [CHANNEL] } }
  start(10, 1)
  tell(failed)
  await settled()
  t.same(asked, [])
  start(10, 11)
  tell(failed)
  await settled()
  t.same(asked, ['Limit'])
})
