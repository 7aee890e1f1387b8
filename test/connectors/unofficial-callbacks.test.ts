import t from 'tap'
import { parseUnofficialCallback } from '../../src/connectors/unofficial/callbacks.ts'
import { verifyUnofficialSignature } from '../../src/connectors/unofficial/signature.ts'
import { ACK, envelope, INBOUND, MESSAGE, message, REACTION, STATUS, updateOf } from './unofficial-fixtures.ts'

t.test('6.2 Envelope', async t => {
  t.same(parseUnofficialCallback(envelope('message.any', MESSAGE)), {
    session: 's1',
    eventId: 'evt_01jnn8zz5w3q8r0s6t4v2x1y0z',
    updates: [INBOUND]
  })
  const ignored = { session: null, eventId: null, updates: [{ kind: 'ignored', reason: 'malformed:event' }] }
  for (const odd of [null, undefined, 'x', 7, [], {}, { event: 'message.any' }]) {
    t.same(parseUnofficialCallback(odd), ignored)
  }
})

t.test('6.3 Events of no use', async t => {
  for (const event of [
    'message',
    'message.edited',
    'message.revoked',
    'message.ack.group',
    'call.received',
    'state.change'
  ]) {
    t.same(updateOf(event, MESSAGE), { kind: 'ignored', reason: event })
  }
})

t.test('3 Identifiers: chats that are no conversation', async t => {
  for (const chat of ['120363012345@g.us', '120363012345@newsletter', 'status@broadcast']) {
    const id = `false_${chat}_3A00_5511900000001@c.us`
    t.same(message({ id, from: chat }), { kind: 'ignored', reason: 'group' }, chat)
    t.same(updateOf('message.reaction', { ...REACTION, id, from: chat }), { kind: 'ignored', reason: 'group' })
    t.same(updateOf('message.ack', { ...ACK, id: `true_${chat}_3A00` }), { kind: 'ignored', reason: 'group' })
  }
})

t.test('6.4 message.ack', async t => {
  const rows: readonly (readonly [ack: number, ackName: string, status: string])[] = [
    [1, 'SERVER', 'sent'],
    [2, 'DEVICE', 'delivered'],
    [3, 'READ', 'read'],
    [4, 'PLAYED', 'read']
  ]
  for (const [ack, ackName, status] of rows) {
    t.same(updateOf('message.ack', { ...ACK, ack, ackName }), { ...STATUS, status }, ackName)
    t.same(updateOf('message.ack', { ...ACK, ack: undefined, ackName }), { ...STATUS, status }, `${ackName} by name`)
  }
  t.match(updateOf('message.ack', { ...ACK, ack: 0, ackName: 'PENDING' }), { kind: 'ignored' })
  t.match(updateOf('message.ack', { ...ACK, fromMe: false, id: MESSAGE.id }), {
    kind: 'ignored',
    reason: 'ack_of_inbound'
  })
  t.match(updateOf('message.ack', { ...ACK, id: 'true_123456789012345@lid_3EB0A1B2C3D4E5F60718' }), {
    providerId: '3EB0A1B2C3D4E5F60718',
    address: '123456789012345@lid'
  })
  t.match(updateOf('message.ack', ACK, { timestamp: undefined }), { providerAt: null }, 'old servers')
})

t.test('8 Restriction on new contacts: failures that reveal it', async t => {
  const failed = { ...ACK, ack: -1, ackName: 'ERROR' }
  const until = '2026-02-01T00:00:00.000Z'
  const restricted = { status: 'failed', code: 'channel_restricted', providerCode: '463' }
  t.same(updateOf('message.ack', failed), { ...STATUS, status: 'failed', code: 'provider_rejected' })
  t.match(
    updateOf('message.ack', { ...failed, error: { code: '463', blocked: true, reason: 'account_restricted', until } }),
    {
      ...restricted,
      restriction: { until }
    }
  )
  t.match(updateOf('message.ack', { ...failed, error: 'server returned error 463' }), {
    ...restricted,
    restriction: { until: null }
  })
  t.match(updateOf('message.ack', { ...failed, _data: { code: 463 } }), { ...restricted, restriction: { until: null } })
  t.match(updateOf('message.ack', { ...failed, error: 'error 14631' }), {
    code: 'provider_rejected',
    restriction: null
  })
})

t.test('2.1 Status', async t => {
  const rows: { [theirs: string]: string } = {
    STOPPED: 'stopped',
    STARTING: 'starting',
    SCAN_QR_CODE: 'scan_qr',
    PASSKEY_REQUIRED: 'passkey_required',
    PASSKEY_CONFIRMATION_REQUIRED: 'passkey_required',
    WORKING: 'working',
    FAILED: 'failed'
  }
  for (const [theirs, ours] of Object.entries(rows)) {
    const payload = { name: 's1', status: theirs, statuses: [], data: null }
    t.same(updateOf('session.status', payload, { me: null }), {
      kind: 'session',
      status: ours,
      number: null,
      restriction: null
    })
  }
  t.match(updateOf('session.status', { status: 'DANCING' }), { kind: 'ignored' })
  t.match(updateOf('session.status', { status: 'WORKING' }), { number: '5511900000000' })
  t.match(updateOf('session.status', { status: 'WORKING' }, { me: { id: '5511900000000:12@s.whatsapp.net' } }), {
    number: '5511900000000'
  })
  const lock = (reachoutTimelock: object) =>
    updateOf('session.status', { status: 'WORKING', data: { reachoutTimelock } })
  t.match(lock({ isActive: true, enforcementType: 'DEFAULT', timeEnforcementEnds: 1769904000 }), {
    restriction: { active: true, until: '2026-02-01T00:00:00.000Z' }
  })
  t.match(lock({ isActive: true, timeEnforcementEnds: null }), { restriction: { active: true, until: null } })
  t.match(lock({ isActive: false, timeEnforcementEnds: 1769904000 }), { restriction: { active: false, until: null } })
})

t.test('6.1 Delivery: signature, with the test vector', async t => {
  const body = Buffer.from('{"event":"message","session":"default","engine":"WEBJS"}')
  const hex =
    '208f8a55dde9e05519e898b10b89bf0d0b3b0fdf11fdbf09b6b90476301b98d8097c462b2b17a6ce93b6b47a136cf2e78a33a63f6752c2c1631777076153fa89'
  t.equal(verifyUnofficialSignature('my-secret-key', body, hex, 'sha512'), true)
  t.equal(verifyUnofficialSignature('my-secret-key', body, hex, undefined), true)
  t.equal(verifyUnofficialSignature('my-secret-key', body, hex, 'sha256'), false)
  t.equal(verifyUnofficialSignature('other', body, hex, 'sha512'), false)
  t.equal(verifyUnofficialSignature('my-secret-key', Buffer.from('{}'), hex, 'sha512'), false)
  for (const header of [undefined, '', hex.slice(2), `${hex}00`, 'z'.repeat(128)]) {
    t.equal(verifyUnofficialSignature('my-secret-key', body, header, 'sha512'), false)
  }
})
