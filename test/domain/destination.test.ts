import t from 'tap'
import { type DestinationCommand, type DestinationEvent, destination } from '../../src/domain/destination.ts'
import { checkRows, fold, type Row } from '../support/decider.ts'
import { at, id, mustBeWritable } from '../support/domain.ts'

const identity = { destinationId: id('whd', 'a'), tenantId: id('tn', 't'), url: 'https://a.test/hook' }
const secrets = { secret: 'whsec_0123' }
const sealed = { subject: 'tenant', sealed: secrets }
const create: DestinationCommand = { type: 'Create', at: at(0), ...identity, secrets }
const created: DestinationEvent = {
  type: 'DestinationCreated',
  at: at(0),
  data: { ...identity, secretLast4: '0123' },
  ...sealed
}
const change = (url: string | null, enabled: boolean | null): DestinationCommand => ({
  type: 'Change',
  at: at(5),
  url,
  enabled
})
const changed = (data: { url?: string; enabled?: boolean }): DestinationEvent => ({
  type: 'DestinationChanged',
  at: at(5),
  data
})
const rotate: DestinationCommand = { type: 'RotateSecret', at: at(5), secrets }
const rotated: DestinationEvent = {
  type: 'DestinationSecretRotated',
  at: at(5),
  data: { secretLast4: '0123' },
  ...sealed
}
const disable: DestinationCommand = { type: 'Disable', at: at(5), reason: 'gone' }
const disabled: DestinationEvent = { type: 'DestinationDisabled', at: at(5), data: { reason: 'gone' } }
const remove: DestinationCommand = { type: 'Remove', at: at(5) }
const removed: DestinationEvent = { type: 'DestinationRemoved', at: at(5), data: {} }
const elsewhere = 'https://b.test/hook'

const row = (line: string, given: DestinationEvent[], when: DestinationCommand, ...expect: DestinationEvent[]) =>
  ({ line, given, when, expect }) as const
const rows: readonly Row<DestinationCommand, DestinationEvent>[] = [
  row('created', [], create, created),
  row('created once', [created], create),
  row('removed: is not created again', [created, removed], create),
  row('another address', [created], change(elsewhere, null), changed({ url: elsewhere })),
  row('switched off', [created], change(null, false), changed({ enabled: false })),
  row('both', [created], change(elsewhere, false), changed({ url: elsewhere, enabled: false })),
  row('nothing new', [created], change(identity.url, true)),
  row('the receiver is gone', [created], disable, disabled),
  row('disabled once', [created, disabled], disable),
  row('disabled: its owner switches it on again', [created, disabled], change(null, true), changed({ enabled: true })),
  row('a new secret', [created], rotate, rotated),
  row('removed', [created], remove, removed),
  ...[change(elsewhere, null), rotate, disable, remove].flatMap(when => [
    {
      line: `removed: ${when.type} finds nothing`,
      given: [created, removed],
      when,
      expect: { rejected: 'resource_not_found' }
    },
    { line: `none: ${when.type} finds nothing`, given: [], when, expect: { rejected: 'resource_not_found' } }
  ])
]

t.test('states', async t => checkRows(t, destination, rows, ['RotateSecret']))

t.test('state', async t => {
  t.strictSame(fold(destination, [created, changed({ url: elsewhere }), disabled]), {
    state: 'live',
    tenantId: identity.tenantId,
    url: elsewhere,
    enabled: false
  })
  for (const event of [created, changed({ enabled: true }), rotated, disabled, removed])
    t.doesNotThrow(() => mustBeWritable(event))
})
