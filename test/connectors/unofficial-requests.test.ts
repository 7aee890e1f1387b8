import t from 'tap'
import type { Content, Outbound } from '../../src/connectors/port.ts'
import type { Reaction } from './recording-server.ts'
import { CHAT, connect, FOUND, isCheck, outbound, patience, SENT, TEXT } from './unofficial-fixtures.ts'

const file = (mimetype: string, url: string, filename: string) => ({ file: { mimetype, filename, url } })

const CONTENTS: readonly (readonly [name: string, content: Content, path: string, body: object])[] = [
  ['text', { kind: 'text', text: 'Oi' }, '/api/sendText', { text: 'Oi' }],
  [
    'image',
    { kind: 'media', media: 'image', url: 'https://c.example.com/a.png?x=1', caption: 'A' },
    '/api/sendImage',
    { ...file('image/png', 'https://c.example.com/a.png?x=1', 'a.png'), caption: 'A' }
  ],
  [
    'image without a file name',
    { kind: 'media', media: 'image', url: 'https://c.example.com/' },
    '/api/sendImage',
    { file: { mimetype: 'image/jpeg', url: 'https://c.example.com/' } }
  ],
  [
    'video',
    { kind: 'media', media: 'video', url: 'https://c.example.com/v.mp4' },
    '/api/sendVideo',
    { ...file('video/mp4', 'https://c.example.com/v.mp4', 'v.mp4'), convert: true }
  ],
  [
    'voice',
    { kind: 'media', media: 'audio', url: 'https://c.example.com/v.ogg', caption: 'no caption on voice' },
    '/api/sendVoice',
    { ...file('audio/ogg; codecs=opus', 'https://c.example.com/v.ogg', 'v.ogg'), convert: true }
  ],
  [
    'audio of unknown kind',
    { kind: 'media', media: 'audio', url: 'https://c.example.com/v' },
    '/api/sendVoice',
    { ...file('audio/ogg; codecs=opus', 'https://c.example.com/v', 'v'), convert: true }
  ],
  [
    'audio that is no voice note',
    { kind: 'media', media: 'audio', url: 'https://c.example.com/v.mp3' },
    '/api/sendFile',
    file('audio/mpeg', 'https://c.example.com/v.mp3', 'v.mp3')
  ],
  [
    'document',
    { kind: 'media', media: 'document', url: 'https://c.example.com/d?id=1', filename: 'i.pdf', caption: 'C' },
    '/api/sendFile',
    { ...file('application/pdf', 'https://c.example.com/d?id=1', 'i.pdf'), caption: 'C' }
  ],
  [
    'buttons as numbered text',
    {
      kind: 'interactive',
      interactive: {
        type: 'buttons',
        body: 'Choose',
        buttons: [
          { id: 'y', title: 'Yes' },
          { id: 'n', title: 'No' }
        ]
      }
    },
    '/api/sendText',
    { text: 'Choose\n\n1. Yes\n2. No' }
  ],
  [
    'list as numbered text',
    {
      kind: 'interactive',
      interactive: {
        type: 'list',
        body: 'Pick',
        buttonLabel: 'Open',
        sections: [
          {
            title: 'Main',
            rows: [
              { id: 'a', title: 'A', description: 'first' },
              { id: 'b', title: 'B' }
            ]
          },
          { rows: [{ id: 'c', title: 'C' }] }
        ]
      }
    },
    '/api/sendText',
    { text: 'Pick\n\n*Main*\n1. A - first\n2. B\n\n3. C' }
  ]
]

t.test('4.1 Requests', async t => {
  const { server, connector, line } = await connect(t, request => (isCheck(request) ? FOUND : SENT))
  for (const [name, content, path, body] of CONTENTS) {
    const answer = await connector.send(line, outbound(content), patience())
    t.same(answer, { kind: 'sent', providerId: '3EB0A1', address: '5511900000001' }, name)
    const request = server.requests.at(-1)
    t.equal(`${request?.method} ${request?.url}`, `POST ${path}`)
    t.match(request?.headers, { 'x-api-key': 'key', 'content-type': 'application/json' })
    t.same(JSON.parse(request?.body ?? ''), { session: 's1', chatId: CHAT, ...body }, name)
  }
  t.equal(server.requests.filter(isCheck).length, 1, 'a recipient is checked once')
  const before = server.requests.length
  const template = outbound({ kind: 'template', name: 'x', language: 'en' })
  t.match(await connector.send(line, template, patience()), { kind: 'refused', code: 'template_call_invalid' })
  const reaction = outbound({ kind: 'reaction', targetMessageId: 'msg_0', emoji: '👍' })
  t.match(await connector.send(line, reaction, patience()), { kind: 'refused', code: 'unsupported_capability' })
  t.equal(server.requests.length, before)
})

t.test('3 Identifiers: check-exists gives the chat to write to', async t => {
  let check: Reaction = { status: 200, body: { numberExists: true, chatId: '551100000001@c.us' } }
  const { server, connector, line } = await connect(t, request =>
    isCheck(request) ? check : { status: 201, body: { id: '3EB0A1' } }
  )
  t.match(await connector.send(line, TEXT, patience()), { kind: 'sent', address: '551100000001' }, 'the ninth digit')
  t.match(server.requests[0], { method: 'GET', url: '/api/contacts/check-exists?phone=5511900000001&session=s1' })
  t.match(JSON.parse(server.requests[1]?.body ?? ''), { chatId: '551100000001@c.us' })

  check = { status: 200, body: { numberExists: false } }
  const nobody = { ...TEXT, to: '5511900000009' }
  t.match(await connector.send(line, nobody, patience()), { kind: 'refused', code: 'invalid_recipient' })
  t.match(await connector.send(line, nobody, patience()), { kind: 'refused', code: 'invalid_recipient' })
  t.equal(server.requests.length, 3, 'a no is remembered, and nothing is sent')
  await connector.send({ ...line, session: 's2' }, nobody, patience())
  t.equal(server.requests.length, 4, 'but of this session only')

  const hidden = await connector.send(line, { ...TEXT, to: '123456789012345@lid' }, patience())
  t.match(hidden, { kind: 'sent', address: '123456789012345@lid' })
  t.match(JSON.parse(server.requests[4]?.body ?? ''), { chatId: '123456789012345@lid' }, 'hidden ids are not checked')
  t.match(await connector.send(line, { ...TEXT, to: 'BR.1349' }, patience()), {
    kind: 'refused',
    code: 'invalid_recipient'
  })
})

t.test('4.1 reply_to: full ids, and one repetition without the quote', async t => {
  let reaction: (quoted: boolean) => Reaction = () => SENT
  const { server, connector, line } = await connect(t, request =>
    isCheck(request) ? FOUND : reaction(request.body.includes('reply_to'))
  )
  const send = async (extra: Partial<Outbound>) => {
    const from = server.requests.length
    const { kind } = await connector.send(line, { ...TEXT, ...extra }, patience())
    const quotes = server.requests.slice(from).filter(request => !isCheck(request))
    return [kind, ...quotes.map(request => JSON.parse(request.body).reply_to)]
  }
  t.same(await send({ quotedProviderId: '3A00' }), ['sent', `false_${CHAT}_3A00`])
  t.same(await send({ quotedProviderId: '3EB0', quotedOwn: true }), ['sent', `true_${CHAT}_3EB0`])
  t.same(await send({ quotedProviderId: 'true_77@lid_3EB0' }), ['sent', 'true_77@lid_3EB0'])

  const quote = { quotedProviderId: '3A00' }
  const full = `false_${CHAT}_3A00`
  for (const status of [400, 404, 422]) {
    reaction = quoted => (quoted ? { status, body: { message: 'Message to reply not found' } } : SENT)
    t.same(await send(quote), ['sent', full, undefined], `${status} proves that it was not sent`)
  }
  reaction = () => ({ status: 404, body: { message: 'Session not found' } })
  t.same(await send(quote), ['channel_trouble', full], 'the session is to blame')
  reaction = () => ({ status: 500, body: {} })
  t.same(await send(quote), ['unknown', full], 'a 500 proves nothing')
})
