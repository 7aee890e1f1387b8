import fc from 'fast-check'
import t from 'tap'
import { type AttemptCommand, type AttemptEvent, type AttemptState, attempt } from '../../src/domain/attempt.ts'
import { isRejection } from '../../src/domain/event.ts'
import { checkRows, fold, type Row } from '../support/decider.ts'
import { at, id, mustBeWritable } from '../support/domain.ts'

const start: AttemptCommand = {
  type: 'Start',
  at: at(0),
  attemptId: id('cxn', 'a'),
  tenantId: id('tn', 't'),
  label: null,
  session: { name: 's1', baseUrl: 'http://instance.test', engine: 'webjs', own: false },
  expiresAt: at(600),
  termsVersion: 'unofficial-v1',
  secrets: { declaredNumber: '4917012345678' }
}
const { type: _type, at: _at, secrets, ...startData } = start
const started: AttemptEvent = {
  type: 'AttemptStarted',
  at: at(0),
  data: startData,
  subject: 'tenant',
  sealed: secrets ?? {}
}
const promotion = { channelId: id('ch', 'a'), number: '4917012345678' }
const offered: AttemptEvent = { type: 'AttemptQrOffered', at: at(5), data: {} }
const paired: AttemptEvent = { type: 'AttemptPaired', at: at(5), data: promotion }
const connected: AttemptEvent = { type: 'AttemptConnected', at: at(5), data: promotion }
const failed: AttemptEvent = { type: 'AttemptFailed', at: at(5), data: { code: 'number_in_use' } }
const expired = (second: number): AttemptEvent => ({ type: 'AttemptExpired', at: at(second), data: {} })
const cancelled: AttemptEvent = { type: 'AttemptCancelled', at: at(5), data: {} }

const offer: AttemptCommand = { type: 'OfferQr', at: at(5) }
const pair: AttemptCommand = { type: 'Pair', at: at(5), ...promotion }
const complete: AttemptCommand = { type: 'Complete', at: at(5) }
const fail: AttemptCommand = { type: 'Fail', at: at(5), code: 'number_in_use' }
const expire = (second: number): AttemptCommand => ({ type: 'Expire', at: at(second) })
const cancel: AttemptCommand = { type: 'Cancel', at: at(5) }

type Rows = readonly Row<AttemptCommand, AttemptEvent>[]
const row = (line: string, given: AttemptEvent[], when: AttemptCommand, ...expect: AttemptEvent[]) =>
  ({ line, given, when, expect }) as const
const refused = (line: string, given: AttemptEvent[], when: AttemptCommand, rejected: string) =>
  ({ line, given, when, expect: { rejected } }) as const

const pairing: readonly [string, AttemptEvent[]][] = [
  ['connecting', [started]],
  ['scan_qr', [started, offered]]
]
const over: readonly [string, AttemptEvent[]][] = [
  ['failed', [started, failed]],
  ['expired', [started, expired(600)]],
  ['cancelled', [started, cancelled]]
]

const rows: Rows = [
  row('(none) → connecting', [], start, started),
  row('connecting: started once', [started], start),
  refused('(none): nothing to cancel', [], cancel, 'channel_not_found'),
  row('connecting → scan_qr: a QR is offered', [started], offer, offered),
  row('scan_qr: a renewed QR is no news', [started, offered], offer),
  ...pairing.flatMap(([state, given]) => [
    row(`${state} → paired: pairing confirmed`, given, pair, paired),
    row(`${state} → failed: the connector refuses`, given, fail, failed),
    row(`${state} → expired: its time is up`, given, expire(600), expired(600)),
    row(`${state}: not before its time is up`, given, expire(599)),
    row(`${state}: not promoted → discarded`, given, cancel, cancelled),
    row(`${state}: is not complete before it is paired`, given, complete)
  ]),
  row('paired → connected: the channel can be read', [started, paired], complete, connected),
  row('paired → failed: its number is taken', [started, paired], fail, failed),
  row('paired: does not expire', [started, paired], expire(600)),
  refused('paired: promoted, not cancellable', [started, paired], cancel, 'attempt_not_cancellable'),
  refused('connected: promoted, not cancellable', [started, paired, connected], cancel, 'attempt_not_cancellable'),
  row('connected: does not fail any more', [started, paired, connected], fail),
  ...over.flatMap(([state, given]) =>
    [offer, pair, complete, fail, expire(700), cancel].map(command =>
      row(`${state}: terminal, ${command.type} changes nothing`, given, command)
    )
  )
]

t.test('states and transitions', async t => checkRows(t, attempt, rows))

const ALLOWED: Record<AttemptState, readonly AttemptState[]> = {
  none: ['connecting'],
  connecting: ['scan_qr', 'paired', 'failed', 'expired', 'cancelled'],
  scan_qr: ['paired', 'failed', 'expired', 'cancelled'],
  paired: ['connected', 'failed'],
  connected: [],
  failed: [],
  expired: [],
  cancelled: []
}

t.test('no sequence of commands leaves the state table', async t => {
  const commands = [start, offer, pair, complete, fail, expire(0), cancel]
  const reached = new Set<string>()
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...commands), { maxLength: 10 }), rest => {
      let state = attempt.initial
      for (const [index, command] of [start, ...rest].entries()) {
        const decision = attempt.decide(state, { ...command, at: at(index * 150) })
        if (isRejection(decision)) continue
        for (const event of decision) mustBeWritable(event)
        const after = fold(attempt, decision, state)
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
