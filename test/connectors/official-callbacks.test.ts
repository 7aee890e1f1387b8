import { createHmac } from 'node:crypto'
import t from 'tap'
import { parseOfficialCallback } from '../../src/connectors/official/callbacks.ts'
import { verifyHubSignature } from '../../src/connectors/official/signature.ts'
import { AT, COMMON, envelope, METADATA, only, updatesOf } from './official-fixtures.ts'

const status = (item: object) => only(envelope('messages', { metadata: METADATA, statuses: [item] }))

t.test('7.2 Statuses', async t => {
  const common = { id: 'wamid.OUT', timestamp: '1767000000', recipient_id: '5511900000001' }
  const expected = {
    kind: 'status',
    providerId: 'wamid.OUT',
    messageId: null,
    code: null,
    reactionCode: null,
    providerCode: null,
    restriction: null,
    providerAt: AT,
    address: '5511900000001',
    alias: null
  }
  for (const [theirs, ours] of [
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['read', 'read'],
    ['played', 'read']
  ]) {
    t.same(status({ ...common, status: theirs }), { ...expected, status: ours }, `status ${theirs}`)
  }
  t.same(status({ ...common, status: 'sent', biz_opaque_callback_data: 'msg_01', conversation: {}, pricing: {} }), {
    ...expected,
    status: 'sent',
    messageId: 'msg_01'
  })
  t.match(status({ ...common, status: 'sent', biz_opaque_callback_data: 'other app' }), { messageId: null })
  t.same(status({ ...common, status: 'failed', errors: [{ code: 131026, title: 'Message undeliverable' }] }), {
    ...expected,
    status: 'failed',
    code: 'invalid_recipient',
    reactionCode: 'invalid_recipient',
    providerCode: '131026'
  })
  t.match(
    status({ ...common, status: 'failed', errors: [{ code: 131009 }] }),
    { code: 'provider_rejected', reactionCode: 'invalid_recipient' },
    'of a reaction it is the target that is not valid'
  )
  t.match(status({ ...common, status: 'failed', errors: [{ code: 130429 }] }), { code: 'provider_rejected' })
  t.match(status({ ...common, status: 'failed' }), { code: 'provider_rejected', providerCode: null })
  t.match(status({ ...common, status: 'warning' }), { kind: 'ignored' })
  t.match(status({ ...common, status: 'deleted' }), { kind: 'ignored' })
  t.match(status({ status: 'sent' }), { kind: 'ignored' }, 'without id')
  t.match(status({ ...common, recipient_id: '', recipient_user_id: 'BR.1349', status: 'read' }), {
    address: 'BR.1349',
    alias: null
  })
  t.match(status({ ...common, recipient_user_id: 'BR.1349', status: 'read' }), {
    address: '5511900000001',
    alias: 'BR.1349'
  })
})

t.test('7.3 Templates', async t => {
  const rows: { [event: string]: string } = {
    APPROVED: 'approved',
    REINSTATED: 'approved',
    UNARCHIVED: 'approved',
    REJECTED: 'rejected',
    PENDING: 'pending',
    IN_APPEAL: 'pending',
    PAUSED: 'paused',
    LIMIT_EXCEEDED: 'paused',
    DISABLED: 'disabled',
    LOCKED: 'disabled',
    ARCHIVED: 'disabled',
    FLAGGED: 'flagged',
    PENDING_DELETION: 'deleted',
    DELETED: 'deleted'
  }
  const value = { message_template_id: 1689556908129832, message_template_name: 'order_update', reason: 'NONE' }
  for (const [event, ours] of Object.entries(rows)) {
    const update = only(
      envelope('message_template_status_update', { ...value, event, message_template_language: 'pt-BR' })
    )
    t.same(update, { kind: 'template', name: 'order_update', language: 'pt_BR', status: ours }, event)
  }
  t.match(only(envelope('message_template_status_update', { ...value, event: 'SHINY' })), { kind: 'ignored' })
})

t.test('7.4 Account and number', async t => {
  const restriction = { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: 1767000000 }
  const other = { restriction_type: 'RESTRICTED_UTILITY_TEMPLATES', expiration: 1767000000 }
  t.same(
    updatesOf(envelope('account_update', { event: 'ACCOUNT_RESTRICTION', restriction_info: [restriction, other] })),
    [
      { kind: 'restriction', until: AT, code: 'RESTRICTED_BIZ_INITIATED_MESSAGING' },
      { kind: 'ignored', reason: 'account_update:ACCOUNT_RESTRICTION' }
    ]
  )
  t.same(updatesOf(envelope('account_update', { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } })), [
    { kind: 'ignored', reason: 'account_update:DISABLED_UPDATE' }
  ])
  const preference = { wa_id: '5511900000001', category: 'marketing_messages', timestamp: 1767000000 }
  for (const [value, optedOut] of [
    ['stop', true],
    ['resume', false],
    ['signup', false]
  ]) {
    t.same(only(envelope('user_preferences', { metadata: METADATA, user_preferences: [{ ...preference, value }] })), {
      kind: 'opt_out',
      address: '5511900000001',
      optedOut,
      providerAt: '2025-12-29T09:20:00.000Z'
    })
  }
  for (const field of ['phone_number_quality_update', 'account_alerts', 'smb_message_echoes', 'calls']) {
    t.same(only(envelope(field, {})), { kind: 'ignored', reason: field })
  }
})

t.test('6.3 Envelope: batches keep their order and their owners', async t => {
  const message = (id: string) => ({ ...COMMON, id, type: 'text', text: { body: id } })
  const body = {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '900',
        changes: [
          { field: 'messages', value: { metadata: METADATA, messages: [message('wamid.1'), message('wamid.2')] } },
          {
            field: 'messages',
            value: {
              metadata: { phone_number_id: 101 },
              statuses: [
                { id: 'wamid.3', status: 'read' },
                { id: 'wamid.4', status: 'sent' }
              ]
            }
          }
        ]
      },
      {
        id: 'PARTNER',
        time: 1767000000,
        changes: [{ field: 'account_update', value: { event: 'PARTNER_ADDED', waba_info: { waba_id: '902' } } }]
      },
      { id: '903', field: 'account_update', changes: [{ value: { event: 'VERIFIED_ACCOUNT' } }] },
      { id: '904' },
      'garbage'
    ]
  }
  const changes = parseOfficialCallback(body)
  t.same(
    changes.map(({ phoneNumberId, wabaId }) => [phoneNumberId, wabaId]),
    [
      ['100', '900'],
      ['101', '900'],
      [null, '902'],
      [null, '903'],
      [null, '904'],
      [null, null]
    ]
  )
  t.same(
    changes.flatMap(({ updates }) => updates.map(update => ('providerId' in update ? update.providerId : update.kind))),
    ['wamid.1', 'wamid.2', 'wamid.3', 'wamid.4', 'ignored', 'ignored', 'ignored', 'ignored']
  )
  t.match(only(envelope('messages', { metadata: METADATA, errors: [{ code: 131000 }] })), { kind: 'ignored' })
  for (const odd of [null, undefined, 'text', 7, [], {}, { entry: 'x' }]) t.same(parseOfficialCallback(odd), [])
})

t.test('6.2 Delivery: signature over the raw bytes', async t => {
  const body = Buffer.from('{"a":"\\u00e9\\/"}')
  const hex = createHmac('sha256', 'secret').update(body).digest('hex')
  t.equal(verifyHubSignature('secret', body, `sha256=${hex}`), true)
  t.equal(verifyHubSignature('other', body, `sha256=${hex}`), false)
  t.equal(verifyHubSignature('secret', Buffer.from('{"a":"é/"}'), `sha256=${hex}`), false, 're-serialised')
  t.equal(verifyHubSignature('', body, `sha256=${createHmac('sha256', '').update(body).digest('hex')}`), false)
  for (const header of [undefined, '', hex, 'sha256=', `sha256=${hex}00`, `sha256=${'z'.repeat(64)}`, `sha1=${hex}`]) {
    t.equal(verifyHubSignature('secret', body, header), false, String(header).slice(0, 12))
  }
})
