import t from 'tap'
import { failureCodeOf, verdictOf, waitMsOf } from '../../src/connectors/official/errors.ts'

type Row = readonly [codes: readonly number[], verdict: string]

const ROWS: readonly Row[] = [
  [[0, 10, 104, 190, 200, 230, 299, 2500, 131005], 'channel_trouble credentials_rejected channel'],
  [[33, 131045, 133010], 'channel_trouble number_not_registered channel'],
  [[1, 2, 131000, 131016, 133004], 'retry provider_unavailable message'],
  [[131057, 133015], 'retry provider_unavailable channel'],
  [[4, 80007, 130429, 132069], 'retry provider_throttled channel'],
  [[131056], 'retry provider_throttled recipient'],
  [[368, 131031, 131048], 'refused channel_restricted message'],
  [[131021, 131026, 131030, 131062], 'refused invalid_recipient message'],
  [[131047], 'refused outside_24h_window message'],
  [[131050], 'refused recipient_opted_out message'],
  [
    [131063, 132000, 132001, 132005, 132007, 132008, 132012, 132015, 132016, 132018],
    'refused template_call_invalid message'
  ],
  [
    [3, 100, 130403, 130472, 130497, 131008, 131009, 131037, 131042, 131044, 131049, 131051, 131052, 131053, 131055],
    'refused provider_rejected message'
  ],
  [
    [131064, 132068, 133000, 133005, 133006, 133008, 133009, 133016, 134011, 135000, 137000],
    'refused provider_rejected message'
  ],
  [[199, 300, 999999, -1], 'refused provider_rejected message']
]

t.test('1.1 Error codes: each code has one verdict', async t => {
  for (const [codes, expected] of ROWS) {
    for (const code of codes) {
      const { kind, code: ours, scope } = verdictOf(code, false)
      t.equal(`${kind} ${ours} ${scope}`, expected, `code ${code}`)
    }
  }
})

t.test('1.1 Error codes: 131009 on a reaction blames its target', async t => {
  t.match(verdictOf(131009, true), { kind: 'refused', code: 'invalid_recipient' })
  t.equal(failureCodeOf(131009, true), 'invalid_recipient')
  t.equal(failureCodeOf(131009, false), 'provider_rejected')
  t.match(verdictOf(131047, true), { code: 'outside_24h_window' }, 'other codes mean the same on a reaction')
})

t.test('1.1 Error codes: reported later, what would be retried is lost', async t => {
  for (const [codes, expected] of ROWS) {
    const [kind, ours] = expected.split(' ')
    for (const code of codes) {
      t.equal(failureCodeOf(code, false), kind === 'refused' ? ours : 'provider_rejected', `code ${code}`)
    }
  }
})

t.test('1.1 Error codes: waits', async t => {
  const waits = (code: number) => [0, 1, 2, 3, 4].map(earlier => waitMsOf(verdictOf(code, false).backoff, earlier))
  t.same(waits(131056), [1000, 4000, 16_000, 64_000, 64_000], 'pair rate: 4^n seconds')
  t.same(waits(131057), [60_000, 60_000, 60_000, 60_000, 60_000], 'maintenance: about a minute')
  t.same(waits(80007), [120_000, 120_000, 120_000, 120_000, 120_000], 'call limits: minutes')
  t.same(waits(131016), [null, null, null, null, null], 'the schedule is the caller’s')
})
