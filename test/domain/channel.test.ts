import fc from 'fast-check'
import t from 'tap'
import {
  admissionRefusal,
  type ChannelCommand,
  type ChannelCreation,
  type ChannelEvent,
  type ChannelState,
  channel,
  isQuarantined,
  isRestricted,
  opensAt
} from '../../src/domain/channel.ts'
import { isRejection } from '../../src/domain/event.ts'
import { checkRows, fold, type Row } from '../support/decider.ts'
import { at, id, mustBeWritable } from '../support/domain.ts'

type Rows = readonly Row<ChannelCommand, ChannelEvent>[]

const session = { name: 's1', baseUrl: 'http://instance.test', engine: 'webjs', own: false }
const creation: ChannelCreation = {
  channelId: id('ch', 'a'),
  tenantId: id('tn', 't'),
  kind: 'official',
  label: 'Shop',
  number: '4917012345678',
  source: 'connect'
}
const secrets = { accessToken: 'token' }
const sealed = { subject: 'tenant', sealed: secrets }
const connect = (quarantineMs = 0, given = creation): ChannelCommand => ({
  type: 'Connect',
  at: at(0),
  creation: given,
  secrets,
  quarantineMs
})
const born: ChannelEvent = { type: 'ChannelConnected', at: at(0), data: creation, ...sealed }
const contained: ChannelEvent = { ...born, data: { ...creation, quarantineUntil: at(3600) } } as ChannelEvent
const unofficial: ChannelEvent = { ...born, data: { ...creation, kind: 'unofficial', session } } as ChannelEvent
const down = (second: number, reason = 'session_dropped'): ChannelEvent => ({
  type: 'ChannelWentDown',
  at: at(second),
  data: { source: 'supervisor', reason }
})
const reconnecting = (second: number): ChannelEvent => ({
  type: 'ChannelReconnecting',
  at: at(second),
  data: { source: 'reconnect' }
})
const reconnected = (second: number): ChannelEvent => ({
  type: 'ChannelReconnected',
  at: at(second),
  data: { source: 'supervisor' }
})
const disconnected = (second: number): ChannelEvent => ({
  type: 'ChannelDisconnected',
  at: at(second),
  data: { source: 'disconnect' }
})
const deleted = (second: number): ChannelEvent => ({
  type: 'ChannelDeleted',
  at: at(second),
  data: { source: 'admin' }
})
const limited: ChannelEvent = { type: 'ChannelLimited', at: at(2), data: { failures: 10, windowSeconds: 300 } }
const restricted = (until?: string): ChannelEvent => ({
  type: 'ChannelRestricted',
  at: at(2),
  data: { code: 'channel_restricted', ...(until === undefined ? {} : { until }) }
})
const troubled: ChannelEvent = { type: 'ChannelTroubleRecorded', at: at(2), data: { code: 'credentials_rejected' } }

const goDown: ChannelCommand = { type: 'MarkDown', at: at(5), source: 'supervisor', reason: 'session_dropped' }
const works: ChannelCommand = { type: 'MarkConnected', at: at(5), source: 'supervisor', number: null }
const begin: ChannelCommand = { type: 'BeginReconnect', at: at(5), source: 'reconnect', session: null }
const disconnect: ChannelCommand = { type: 'Disconnect', at: at(5), source: 'disconnect' }
const remove: ChannelCommand = { type: 'Delete', at: at(5), source: 'admin' }
const restrict = (until: string | null): ChannelCommand => ({
  type: 'Restrict',
  at: at(5),
  code: 'channel_restricted',
  until
})
const limit: ChannelCommand = { type: 'Limit', at: at(2), failures: 10, windowSeconds: 300 }
const releaseLimit: ChannelCommand = { type: 'ReleaseLimit', at: at(5), termsVersion: 'limited-release-v1' }
const releaseQuarantine: ChannelCommand = { type: 'ReleaseQuarantine', at: at(5), reason: null }
const trouble: Extract<ChannelCommand, { type: 'RecordTrouble' }> = {
  type: 'RecordTrouble',
  at: at(5),
  code: 'credentials_rejected',
  secretsGeneration: 0
}
const rotated: ChannelEvent = { type: 'ChannelCredentialsRotated', at: at(3), data: {} }
const rotate: ChannelCommand = { type: 'RotateCredentials', at: at(5), platformAppId: null, secrets }

/** State, history that leads to it. */
const live: readonly [ChannelState, ChannelEvent[]][] = [
  ['connected', [born]],
  ['down', [born, down(1)]],
  ['connecting', [born, down(1), reconnecting(2)]],
  ['disconnected', [born, disconnected(1)]]
]

const row = (line: string, given: ChannelEvent[], when: ChannelCommand, ...expect: ChannelEvent[]) =>
  ({ line, given, when, expect }) as const
const refused = (line: string, given: ChannelEvent[], when: ChannelCommand, rejected: string) =>
  ({ line, given, when, expect: { rejected } }) as const

const states: Rows = [
  row('(none) → connected', [], connect(), born),
  row('(none) → connected: with containment', [], connect(3_600_000), contained),
  row('connected: created once', [born], connect()),
  row('deleted: is not created again', [born, deleted(1)], connect()),
  refused('(none): nothing happens to a channel that is none', [], goDown, 'channel_not_found'),
  row('connected → down: its session drops', [born], goDown, down(5)),
  row('connecting → down: its session does not come up', [born, down(1), reconnecting(2)], goDown, down(5)),
  row('down: stays down', [born, down(1)], goDown),
  row('disconnected: its session has no say', [born, disconnected(1)], goDown),
  row('down → connecting: connected anew', [born, down(1)], begin, reconnecting(5)),
  row('disconnected → connecting: connected anew', [born, disconnected(1)], begin, reconnecting(5)),
  row('connected: connect is idempotent', [born], begin),
  row('connecting: connect is idempotent', [born, down(1), reconnecting(2)], begin),
  row('connecting → connected', [born, down(1), reconnecting(2)], works, reconnected(5)),
  row('down → connected: its session came back', [born, down(1)], works, reconnected(5)),
  row('disconnected: does not come back by itself', [born, disconnected(1)], works),
  row('connected: is connected', [born], works),
  ...live
    .filter(([state]) => state !== 'disconnected')
    .map(([state, given]) => row(`${state} → disconnected`, given, disconnect, disconnected(5))),
  row('disconnected: is disconnected', [born, disconnected(1)], disconnect),
  ...live.map(([state, given]) => row(`${state} → deleted`, given, remove, deleted(5))),
  ...[goDown, works, begin, disconnect, remove, limit, rotate].map(command =>
    refused(`deleted: ${command.type} finds nothing`, [born, deleted(1)], command, 'channel_not_found')
  ),
  row(
    'renamed',
    [born],
    { type: 'Rename', at: at(5), label: 'Store' },
    {
      type: 'ChannelRenamed',
      at: at(5),
      data: { label: 'Store' }
    }
  ),
  row('renamed: to the same label', [born], { type: 'Rename', at: at(5), label: 'Shop' })
]

const flags: Rows = [
  row('limited: a burst of failures', [born], limit, limited),
  row('limited: once', [born, limited], limit),
  row('limited → released', [born, limited], releaseLimit, {
    type: 'ChannelLimitReleased',
    at: at(5),
    data: { termsVersion: 'limited-release-v1' }
  }),
  row('not limited: nothing to release', [born], releaseLimit),
  row('quarantine → released', [contained], releaseQuarantine, {
    type: 'ChannelQuarantineReleased',
    at: at(5),
    data: {}
  }),
  row('quarantine: over by itself', [contained], { ...releaseQuarantine, at: at(3600) }),
  row('restricted: until a time', [born], restrict(at(60)), { ...restricted(at(60)), at: at(5) }),
  row('restricted: until it is lifted', [born], restrict(null), { ...restricted(), at: at(5) }),
  row('restricted: the same again', [born, restricted(at(60))], restrict(at(60))),
  row('restricted: another end', [born, restricted(at(60))], restrict(at(90)), { ...restricted(at(90)), at: at(5) }),
  row('restricted: news of one that is over', [born], restrict(at(4))),
  row(
    'restricted → lifted',
    [born, restricted()],
    { type: 'LiftRestriction', at: at(5) },
    {
      type: 'ChannelRestrictionLifted',
      at: at(5),
      data: {}
    }
  ),
  row('restricted: over by itself', [born, restricted(at(4))], { type: 'LiftRestriction', at: at(5) }),
  row('trouble', [born], { ...trouble, at: at(2) }, troubled),
  row('trouble: the same again', [born, troubled], trouble),
  row('trouble: of credentials that were replaced', [born, rotated], trouble),
  row(
    'trouble: of the new credentials',
    [born, rotated],
    { ...trouble, secretsGeneration: 1 },
    { ...troubled, at: at(5) }
  ),
  row(
    'trouble is over',
    [born, troubled],
    { type: 'ClearTrouble', at: at(5) },
    {
      type: 'ChannelTroubleCleared',
      at: at(5),
      data: {}
    }
  ),
  row('no trouble to clear', [born], { type: 'ClearTrouble', at: at(5) }),
  row('new credentials', [born], rotate, { type: 'ChannelCredentialsRotated', at: at(5), data: {}, ...sealed }),
  refused('new credentials: not for unofficial numbers', [unofficial], rotate, 'unsupported_capability')
]

t.test('states and transitions', async t => checkRows(t, channel, states))
t.test('flags', async t => checkRows(t, channel, flags, ['RotateCredentials']))

t.test('what may leave and what is refused', async t => {
  const whether = (...events: ChannelEvent[]) => {
    const state = fold(channel, events)
    return { opens: opensAt(state, at(10)), refusal: admissionRefusal(state, at(10)) }
  }
  t.strictSame(whether(born), { opens: at(10), refusal: null }, 'connected')
  t.strictSame(whether(born, down(1)), { opens: null, refusal: null }, 'down: admitted, waits')
  t.strictSame(whether(born, down(1), reconnecting(2)), { opens: null, refusal: null }, 'connecting')
  t.strictSame(whether(born, disconnected(1)), { opens: null, refusal: 'channel_disconnected' }, 'disconnected')
  t.strictSame(whether(born, limited), { opens: null, refusal: 'channel_limited' }, 'limited')
  t.strictSame(whether(contained), { opens: at(3600), refusal: 'channel_quarantined' }, 'quarantine')
  t.strictSame(whether(born, troubled), { opens: null, refusal: null }, 'trouble: admitted, waits')
  t.strictSame(whether(born, restricted()), { opens: at(10), refusal: null }, 'restricted: existing contacts go on')
  t.strictSame(whether(born, down(1), reconnected(2)), { opens: at(10), refusal: null }, 'back: no trouble is left')
})

t.test('the platform’s own word for a restriction can be recorded', async t => {
  const event: ChannelEvent = {
    type: 'ChannelRestricted',
    at: at(2),
    data: { code: 'RESTRICTED_BIZ_INITIATED_MESSAGING' }
  }
  t.doesNotThrow(() => mustBeWritable(event))
})

t.test('restriction and containment end by themselves', async t => {
  const state = fold(channel, [contained, restricted(at(60))])
  t.ok(isRestricted(state, at(59)))
  t.notOk(isRestricted(state, at(60)))
  t.ok(isQuarantined(state, at(3599)))
  t.notOk(isQuarantined(state, at(3600)))
  t.equal(state.restricted?.until, at(60), 'a past end is kept')
})

const ALLOWED: Record<ChannelState, readonly ChannelState[]> = {
  none: ['connected'],
  connecting: ['connected', 'down', 'disconnected', 'deleted'],
  connected: ['down', 'disconnected', 'deleted'],
  down: ['connected', 'connecting', 'disconnected', 'deleted'],
  disconnected: ['connecting', 'deleted'],
  deleted: []
}

t.test('no sequence of commands leaves the state table', async t => {
  const commands = [connect(3_600_000), goDown, works, begin, disconnect, limit, releaseLimit, restrict(at(90)), rotate]
  const more = [restrict(null), { type: 'LiftRestriction', at: at(5) } as const, releaseQuarantine, remove]
  const reached = new Set<string>()
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...commands, ...more), { maxLength: 16 }), rest => {
      let state = channel.initial
      for (const [index, command] of [connect(), ...rest].entries()) {
        const decision = channel.decide(state, { ...command, at: at(index * 10) })
        if (isRejection(decision)) continue
        for (const event of decision) mustBeWritable(event)
        const after = fold(channel, decision, state)
        if (after.state !== state.state && !ALLOWED[state.state].includes(after.state)) return false
        reached.add(`${state.state} → ${after.state}`)
        state = after
      }
      return true
    }),
    { numRuns: 1000, seed: 20240501 }
  )
  for (const [from, targets] of Object.entries(ALLOWED))
    for (const to of targets) t.ok(reached.has(`${from} → ${to}`), `${from} → ${to} was reached`)
})
