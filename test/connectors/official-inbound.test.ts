import t from 'tap'
import { AT, COMMON, CONTACTS, envelope, METADATA, only } from './official-fixtures.ts'

const inbound = (item: object) =>
  only(
    envelope('messages', { messaging_product: 'whatsapp', metadata: METADATA, contacts: CONTACTS, messages: [item] })
  )

const media = (kind: string, mimeType: string, extra: object = {}) => ({
  kind: 'media',
  media: kind,
  mediaId: '901',
  mimeType,
  filename: null,
  fileSize: null,
  path: null,
  ...extra
})

const MESSAGES: readonly (readonly [name: string, item: object, message: object])[] = [
  ['text', { type: 'text', text: { body: 'Oi' } }, { kind: 'text', text: 'Oi' }],
  [
    'image',
    { type: 'image', image: { caption: 'look', mime_type: 'image/jpeg', sha256: 'q2F=', id: '901', url: 'https://x' } },
    media('image', 'image/jpeg', { caption: 'look' })
  ],
  [
    'video',
    { type: 'video', video: { caption: 'c', mime_type: 'video/mp4', id: '901' } },
    media('video', 'video/mp4', { caption: 'c' })
  ],
  [
    'audio',
    { type: 'audio', audio: { mime_type: 'audio/ogg; codecs=opus', id: '901', voice: true } },
    media('audio', 'audio/ogg; codecs=opus')
  ],
  [
    'document',
    { type: 'document', document: { filename: 'a.pdf', mime_type: 'application/pdf', id: '901', file_size: '30312' } },
    media('document', 'application/pdf', { filename: 'a.pdf', fileSize: 30312 })
  ],
  [
    'sticker is an image',
    { type: 'sticker', sticker: { mime_type: 'image/webp', id: '901', animated: false } },
    media('image', 'image/webp', { sticker: true })
  ],
  ['media without id', { type: 'image', image: {} }, { kind: 'unsupported', originalType: 'image' }],
  ['location', { type: 'location', location: { latitude: -23.55 } }, { kind: 'unsupported', originalType: 'location' }],
  ['contacts', { type: 'contacts', contacts: [{}] }, { kind: 'unsupported', originalType: 'contacts' }],
  [
    'reaction',
    { type: 'reaction', reaction: { message_id: 'wamid.T', emoji: '😮' } },
    { kind: 'reaction', targetProviderId: 'wamid.T', emoji: '😮' }
  ],
  [
    'reaction removed',
    { type: 'reaction', reaction: { message_id: 'wamid.T' } },
    { kind: 'reaction', targetProviderId: 'wamid.T', emoji: '' }
  ],
  [
    'button reply',
    { type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: 'yes', title: 'Yes' } } },
    { kind: 'interactive_reply', replyType: 'button', id: 'yes', title: 'Yes' }
  ],
  [
    'list reply',
    {
      type: 'interactive',
      interactive: { type: 'list_reply', list_reply: { id: 'r1', title: 'Row 1', description: 'first' } }
    },
    { kind: 'interactive_reply', replyType: 'list', id: 'r1', title: 'Row 1', description: 'first' }
  ],
  [
    'flow reply',
    {
      type: 'interactive',
      interactive: { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json: '{"a":1}' } }
    },
    { kind: 'interactive_reply', replyType: 'flow', id: 'flow', title: 'Sent', data: { a: 1 } }
  ],
  [
    'flow reply with broken JSON',
    { type: 'interactive', interactive: { type: 'nfm_reply', nfm_reply: { body: 'Sent', response_json: '{' } } },
    { kind: 'interactive_reply', replyType: 'flow', id: 'flow', title: 'Sent' }
  ],
  [
    'template quick reply',
    { type: 'button', button: { payload: 'STOP', text: 'Stop promotions' } },
    { kind: 'interactive_reply', replyType: 'button', id: 'STOP', title: 'Stop promotions' }
  ],
  ['broken interactive', { type: 'interactive' }, { kind: 'unsupported', originalType: 'interactive' }],
  ['order', { type: 'order', order: { catalog_id: '1' } }, { kind: 'unsupported', originalType: 'order' }],
  [
    'unsupported with its type',
    { type: 'unsupported', errors: [{ code: 131051 }], unsupported: { type: 'poll_creation' } },
    { kind: 'unsupported', originalType: 'poll_creation' }
  ],
  ['unsupported', { type: 'unsupported', errors: [{}] }, { kind: 'unsupported', originalType: 'unsupported' }],
  ['unknown type', { type: 'hologram' }, { kind: 'unsupported', originalType: 'hologram' }]
]

t.test('7.1 Inbound messages', async t => {
  for (const [name, item, message] of MESSAGES) {
    t.same(
      inbound({ ...COMMON, ...item }),
      {
        kind: 'inbound',
        providerId: 'wamid.IN',
        from: '5511900000001',
        alias: 'BR.13491208655302741918',
        profileName: 'Ana',
        quotedProviderId: null,
        message,
        providerAt: AT
      },
      name
    )
  }
  for (const type of ['system', 'edit', 'revoke']) {
    t.same(inbound({ ...COMMON, type, [type]: {} }), { kind: 'ignored', reason: `message:${type}` })
  }
  t.same(inbound({ ...COMMON, type: 'text', text: { body: 'x' }, group_id: 'g' }), { kind: 'ignored', reason: 'group' })
})

t.test('7.1 context: reply, forwarded without id, referral', async t => {
  const text = { ...COMMON, type: 'text', text: { body: 'x' } }
  t.match(inbound({ ...text, context: { from: '5511900000000', id: 'wamid.Q' } }), { quotedProviderId: 'wamid.Q' })
  t.match(inbound({ ...text, context: { forwarded: true } }), { quotedProviderId: null })
  t.match(inbound({ ...text, referral: { source_type: 'ad' } }), { message: { kind: 'text', text: 'x' } })
})

t.test('8 User ids: the phone may be hidden, the contacts missing', async t => {
  const text = { id: 'wamid.IN', timestamp: '1767000000', type: 'text', text: { body: 'x' } }
  const hidden = { ...text, from_user_id: 'BR.1349' }
  const named = [{ profile: { name: 'Ana' }, user_id: 'BR.1349' }]
  t.match(only(envelope('messages', { metadata: METADATA, contacts: named, messages: [hidden] })), {
    from: 'BR.1349',
    alias: null,
    profileName: 'Ana'
  })
  t.match(only(envelope('messages', { metadata: METADATA, messages: [{ ...hidden, from: '' }] })), {
    from: 'BR.1349',
    profileName: null
  })
  t.match(only(envelope('messages', { metadata: METADATA, messages: [{ ...hidden, from: '5511900000001' }] })), {
    from: '5511900000001',
    alias: 'BR.1349'
  })
  t.match(only(envelope('messages', { metadata: METADATA, messages: [text] })), { kind: 'ignored' }, 'from nobody')
})
