import { createHmac } from 'node:crypto'
import t from 'tap'
import { signatureHeader, verifySignature } from '../../src/connectors/webhook/signature.ts'

const now = 1_800_000_000
const body = Buffer.from('{"id":"evt_1","text":"grüße"}')
const invalid = { ok: false, reason: 'invalid_signature' } as const
const missing = { ok: false, reason: 'missing_signature' } as const

t.test('the header is the HMAC-SHA256 of "<t>.<raw body>" in hex', async t => {
  const expected = createHmac('sha256', 'whsec').update(`${now}.`).update(body).digest('hex')
  t.equal(signatureHeader(body, ['whsec'], now), `t=${now},v1=${expected}`)
  t.equal(signatureHeader(body.toString(), ['whsec'], now + 0.9), `t=${now},v1=${expected}`, 'text and fractions too')
})

t.test('a delivery is never left unsigned', async t => {
  t.throws(() => signatureHeader(body, [], now))
})

t.test('during a rotation both secrets sign, the new one first, and either verifies', async t => {
  const header = signatureHeader(body, ['new', 'old'], now)
  t.equal(header, `${signatureHeader(body, ['new'], now)},${signatureHeader(body, ['old'], now).split(',')[1]}`)
  for (const secret of ['new', 'old']) t.same(verifySignature(header, body, secret, now), { ok: true })
  t.same(verifySignature(header, body, 'older', now), invalid)
})

t.test('the tolerance is five minutes to both sides, its edges included', async t => {
  const header = signatureHeader(body, ['s'], now)
  for (const offset of [-300, -299, 0, 299, 300]) {
    t.same(verifySignature(header, body, 's', now + offset), { ok: true }, `${offset} s`)
  }
  for (const offset of [-301, -300.5, 300.5, 301, 86_400]) {
    t.same(verifySignature(header, body, 's', now + offset), invalid, `${offset} s`)
  }
  t.same(verifySignature(header, body, 's', now + 400, 400), { ok: true }, 'a tolerance of one’s own')
  t.same(verifySignature(header, body, 's', now + 1, 0), invalid)
})

t.test('a changed byte, time or secret fails', async t => {
  const header = signatureHeader(body, ['s'], now)
  t.same(verifySignature(header, Buffer.concat([body, Buffer.from(' ')]), 's', now), invalid)
  t.same(verifySignature(header, JSON.stringify(JSON.parse(`${body}`), null, 1), 's', now), invalid)
  t.same(verifySignature(header.replace(`${now}`, `${now + 1}`), body, 's', now), invalid)
  t.same(verifySignature(header, body, 'S', now), invalid)
})

t.test('a header that is absent is missing, one that cannot be read is invalid', async t => {
  for (const header of [undefined, '', '  ']) t.same(verifySignature(header, body, 's', now), missing)
  const good = signatureHeader(body, ['s'], now)
  const v1 = good.slice(good.indexOf('v1='))
  const unreadable = [
    'nonsense',
    `t=${now}`,
    v1,
    `t=,${v1}`,
    `t=-1,${v1}`,
    `t=1e9,${v1}`,
    `t=${now},v1=`,
    `t=${now},v1=abcd`,
    `t=${now},v1=${'z'.repeat(64)}`,
    `t=${now},t=${now},${v1}`,
    `${good},${'v1=00,'.repeat(500)}`
  ]
  for (const header of unreadable) t.same(verifySignature(header, body, 's', now), invalid, header.slice(0, 40))
})

t.test('keys that are not known yet are skipped, and blanks after commas do no harm', async t => {
  const header = `${signatureHeader(body, ['s'], now).replace(',', ', ')},v2=whatever`
  t.same(verifySignature(header, body, 's', now), { ok: true })
})
