import t from 'tap'
import { AT, INBOUND, ME, MESSAGE, message, REACTION, updateOf } from './unofficial-fixtures.ts'

t.test('3 Identifiers: odd message ids', async t => {
  t.match(message({ id: '3A00', from: '5511900000001:12@s.whatsapp.net' }), {
    providerId: '3A00',
    from: '5511900000001'
  })
  t.match(message({ id: { _serialized: MESSAGE.id } }), INBOUND)
  t.match(message({ id: { $1: MESSAGE.id } }), INBOUND, 'renamed by the web client')
  t.match(message({ id: { fromMe: false, remote: '5511900000001@c.us', id: '3A00' } }), { providerId: '3A00' })
  t.match(message({ id: null }), { kind: 'ignored', reason: 'malformed:message' })
  t.match(message({ id: '3A00', from: null }), { kind: 'ignored', reason: 'malformed:message' })
})

t.test('9.3 Hidden ids: the phone leads where it is told', async t => {
  const id = 'false_123456789012345@lid_3A00'
  const from = '123456789012345@lid'
  t.match(message({ id, from }), { from, alias: null })
  t.match(message({ id, from, _data: { key: { remoteJid: from, remoteJidAlt: '5511900000001@s.whatsapp.net' } } }), {
    from: '5511900000001',
    alias: from
  })
  t.match(message({ id, from, _data: { Info: { Chat: from, SenderAlt: '5511900000001:3@s.whatsapp.net' } } }), {
    from: '5511900000001',
    alias: from
  })
  t.match(message({ _data: { key: { remoteJidAlt: from } } }), { from: '5511900000001', alias: from })
})

t.test('6.4 message.any: push names and quotes', async t => {
  t.match(message({ _data: { pushName: 'Ana' } }), { profileName: 'Ana' }, 'NOWEB')
  t.match(message({ _data: { Info: { PushName: 'Ana' } } }), { profileName: 'Ana' }, 'GOWS')
  t.match(message({ _data: { notifyName: 'Ana' } }), { profileName: 'Ana' }, 'WEBJS')
  t.match(message({ replyTo: { id: '3EB0A1', body: 'x' } }), { quotedProviderId: '3EB0A1' })
  t.match(message({ replyTo: { id: 'true_5511900000001@c.us_3EB0A1' } }), { quotedProviderId: '3EB0A1' })
  t.match(message({ replyTo: { body: 'x' } }), { quotedProviderId: null })
})

t.test('6.4 message.any: our own messages are echoes', async t => {
  const own = { ...MESSAGE, id: 'true_5511900000001@c.us_3EB0A1', fromMe: true }
  const echo = { kind: 'echo', providerId: '3EB0A1', address: '5511900000001', text: 'Oi', providerAt: AT }
  t.same(message({ ...own, source: 'api' }), { ...echo, api: true })
  t.same(message({ ...own, source: 'app', body: '' }), { ...echo, api: false, text: null })
  t.match(message({ ...own, id: '3EB0A1', from: ME.id, to: '5511900000001@c.us' }), {
    kind: 'echo',
    address: '5511900000001'
  })
})

const file = (extra: object) => ({
  hasMedia: true,
  body: 'caption',
  media: {
    url: 'http://localhost:3000/api/files/s1/x.jpg',
    mimetype: 'image/jpeg',
    filename: null,
    error: null,
    s3: null,
    ...extra
  }
})
const media = (kind: string, mimeType: string, extra: object = {}) => ({
  kind: 'media',
  media: kind,
  mediaId: '3A0011223344556677AA',
  mimeType,
  filename: null,
  fileSize: null,
  caption: 'caption',
  path: '/api/files/s1/x.jpg',
  ...extra
})

t.test('6.4 Media', async t => {
  const rows: readonly (readonly [string, object, object])[] = [
    ['image', file({}), media('image', 'image/jpeg')],
    ['video', file({ mimetype: 'video/mp4' }), media('video', 'video/mp4')],
    ['voice', file({ mimetype: 'audio/ogg; codecs=opus' }), media('audio', 'audio/ogg; codecs=opus')],
    [
      'document, size in the raw data',
      {
        ...file({ mimetype: 'application/pdf', filename: 'a.pdf' }),
        _data: { message: { documentMessage: { fileLength: { low: 30312, high: 0, unsigned: true } } } }
      },
      media('document', 'application/pdf', { filename: 'a.pdf', fileSize: 30312 })
    ],
    [
      'a picture sent as a document, in a wrapper',
      {
        ...file({}),
        _data: {
          Message: {
            documentWithCaptionMessage: { message: { documentMessage: { fileName: 'p.jpg', fileLength: '9' } } }
          }
        }
      },
      media('document', 'image/jpeg', { filename: 'p.jpg', fileSize: 9 })
    ],
    ['sticker', file({ mimetype: 'image/webp' }), media('image', 'image/webp', { sticker: true })],
    ['download failed', file({ url: null, error: 'x' }), media('image', 'image/jpeg', { path: null })],
    ['foreign store', file({ s3: { Bucket: 'b', Key: 'k' } }), media('image', 'image/jpeg', { path: null })],
    ['signed path', file({ url: 'http://x/f/a.jpg?sig=1' }), media('image', 'image/jpeg', { path: '/f/a.jpg?sig=1' })],
    [
      'download switched off',
      { hasMedia: true, media: null, body: 'caption', _data: { message: { imageMessage: { mimetype: 'image/png' } } } },
      media('image', 'image/png', { path: null })
    ],
    [
      'download switched off, WEBJS',
      { hasMedia: true, media: null, body: 'caption', _data: { type: 'ptt', mimetype: 'audio/ogg', size: 12 } },
      media('audio', 'audio/ogg', { path: null, fileSize: 12 })
    ]
  ]
  for (const [name, extra, expected] of rows) t.same(message(extra), { ...INBOUND, message: expected }, name)
})

t.test('6.4 Classification: replies, and what is not carried', async t => {
  const reply = (replyType: string, id: string, title: string, extra: object = {}) => ({
    kind: 'interactive_reply',
    replyType,
    id,
    title,
    ...extra
  })
  const rows: readonly (readonly [string, object, object])[] = [
    [
      'button, NOWEB',
      {
        body: 'Yes',
        _data: { message: { buttonsResponseMessage: { selectedButtonId: 'yes', selectedDisplayText: 'Y' } } }
      },
      reply('button', 'yes', 'Yes')
    ],
    [
      'button, other capitals',
      {
        body: null,
        _data: { Message: { buttonsResponseMessage: { selectedButtonID: 'yes', SelectedDisplayText: 'Y' } } }
      },
      reply('button', 'yes', 'Y')
    ],
    [
      'template button',
      { body: 'Stop', _data: { message: { templateButtonReplyMessage: { selectedId: 'STOP' } } } },
      reply('button', 'STOP', 'Stop')
    ],
    [
      'list, NOWEB',
      {
        body: 'Row 1',
        _data: {
          message: {
            listResponseMessage: { title: 'Row 1', description: 'first', singleSelectReply: { selectedRowId: 'r1' } }
          }
        }
      },
      reply('list', 'r1', 'Row 1', { description: 'first' })
    ],
    [
      'list, other capitals',
      { body: 'Row 1', _data: { Message: { listResponseMessage: { singleSelectReply: { selectedRowID: 'r1' } } } } },
      reply('list', 'r1', 'Row 1')
    ],
    [
      'list, WEBJS',
      { body: 'Row 1', _data: { type: 'list_response', listResponse: { singleSelectReply: { selectedRowId: 'r1' } } } },
      reply('list', 'r1', 'Row 1')
    ],
    [
      'button, WEBJS',
      { body: 'Yes', _data: { type: 'buttons_response', selectedButtonId: 'yes' } },
      reply('button', 'yes', 'Yes')
    ],
    ['reply without an id', { body: 'Yes', _data: { type: 'buttons_response' } }, { kind: 'text', text: 'Yes' }],
    [
      'location',
      { body: '/9j/4AAQ', location: { latitude: '-23.55', longitude: -46.63 } },
      { kind: 'unsupported', originalType: 'location' }
    ],
    ['cards', { body: '', vCards: ['BEGIN:VCARD'] }, { kind: 'unsupported', originalType: 'contacts' }],
    [
      'poll',
      { body: '', _data: { message: { pollCreationMessageV3: {} } } },
      { kind: 'unsupported', originalType: 'poll_creation' }
    ],
    ['card, WEBJS', { body: null, _data: { type: 'multi_vcard' } }, { kind: 'unsupported', originalType: 'contacts' }],
    [
      'something new',
      { body: null, _data: { message: { hologramMessage: {} } } },
      { kind: 'unsupported', originalType: 'hologramMessage' }
    ]
  ]
  for (const [name, extra, expected] of rows) t.same(message(extra), { ...INBOUND, message: expected }, name)
  for (const data of [
    { message: { protocolMessage: {} } },
    { type: 'e2e_notification' },
    { type: 'revoked' },
    {},
    null
  ]) {
    t.same(message({ body: '', _data: data }), { kind: 'ignored', reason: 'protocol_noise' })
  }
})

t.test('6.4 message.reaction', async t => {
  const expected = {
    ...INBOUND,
    providerId: '3A01',
    message: { kind: 'reaction', targetProviderId: '3EB0A1B2C3D4E5F60718', emoji: '🙏' },
    providerAt: '2025-12-29T09:20:00.853Z'
  }
  t.same(updateOf('message.reaction', REACTION), expected)
  const removed = { ...REACTION, reaction: { ...REACTION.reaction, text: '' } }
  t.match(updateOf('message.reaction', removed), { message: { kind: 'reaction', emoji: '' } })
  t.same(updateOf('message.reaction', { ...REACTION, fromMe: true }), { kind: 'ignored', reason: 'own_reaction' })
  t.match(updateOf('message.reaction', { ...REACTION, reaction: null }), { kind: 'ignored' })
})
