/** What was made is answered from the log when the views do not show it yet: nobody can ask for it again. */
import t, { type Test } from 'tap'
import { createAggregates, streamOf } from '../../src/actors/aggregates.ts'
import { systemClock } from '../../src/actors/clock.ts'
import type { Core } from '../../src/actors/core.ts'
import { createDestinations } from '../../src/actors/destinations.ts'
import { nactMailboxes } from '../../src/actors/mailbox.ts'
import { createNumbers, type NumbersOptions } from '../../src/actors/numbers.ts'
import type { Guard } from '../../src/connectors/webhook/guard.ts'
import { at, id } from '../support/domain.ts'
import { openKeys } from '../support/keys.ts'

const TENANT = id('tn', 't')
const asker = { tenantId: TENANT, trace: id('tr') }
const RIGHT = { kind: 'ok', value: { number: '5511900000001', verifiedName: null, platformType: null } }

/** A node whose views show nothing, and do not catch up in time. */
async function open(t: Test): Promise<Core> {
  const { log, keyring } = openKeys(t)
  await keyring.createTenant(TENANT, at(0))
  const mailboxes = nactMailboxes(error => t.fail(String(error)))
  const aggregates = createAggregates({
    log,
    keyring,
    clock: systemClock,
    mailboxes,
    shared: false,
    onAppended: () => undefined,
    onCrash: error => t.fail(String(error))
  })
  t.teardown(async () => {
    await aggregates.stop()
    mailboxes.stop()
  })
  const core = {
    log,
    keyring,
    aggregates,
    views: { caughtUp: async () => false, destination: () => null, channel: () => null },
    own: { settled: async () => undefined, configured: () => undefined },
    clock: systemClock,
    processId: 'node'
  }
  return core as unknown as Core
}

t.test('a destination, whose secret is told once', async t => {
  const core = await open(t)
  const context = { commandId: 'create', tenant: TENANT, trace: null, cause: null, source: 'test' }
  const command = { type: 'Create', at: at(0), tenantId: TENANT, name: 'acme' } as const
  t.ok((await core.aggregates.tenants.ask(streamOf.tenant(TENANT), command, context)).ok)
  const guard = { resolve: async () => ({ ok: true }) } as unknown as Guard
  const made = await createDestinations(core, guard).createDestination(asker, { url: 'https://example.com/hook' })
  if (!made.ok) return t.fail(made.code)
  const { secret, ...row } = made.value
  t.match(secret, /^whsec_/)
  t.match(row, { tenantId: TENANT, url: 'https://example.com/hook', secretLast4: secret.slice(-4), enabled: true })
  for await (const { meta } of core.log.read(streamOf.destination(row.id)))
    t.equal(row.createdAt, (JSON.parse(meta) as { at: string }).at, 'as the views will show it')
})

t.test('a number, which its own owner would find in use', async t => {
  const core = await open(t)
  const numbers = createNumbers({
    core,
    official: { verify: async () => RIGHT, subscribe: async () => ({ kind: 'ok', value: null }) },
    view: { quarantineOn: true, rateLimitPerMinute: 0 },
    quarantineMs: 60_000
  } as unknown as NumbersOptions)
  const credentials = { phoneNumberId: 'pn1', wabaId: 'waba1', accessToken: 'token' }
  const made = await numbers.createOfficial(asker, { label: 'Desk', credentials })
  if (!made.ok) return t.fail(made.code)
  const { number } = RIGHT.value
  t.match(made.value, { kind: 'official', state: 'connected', label: 'Desk', number, quarantine: { active: true } })
})
