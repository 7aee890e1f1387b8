import t from 'tap'
import type { Content, Outbound } from '../../src/connectors/port.ts'
import { ACCEPTED, connect, LINE, outbound, patience, TEXT } from './official-fixtures.ts'

const CONTENTS: readonly (readonly [name: string, content: Content, body: object])[] = [
  ['text', { kind: 'text', text: 'Oi "é"' }, { type: 'text', text: { body: 'Oi "é"' } }],
  [
    'image',
    { kind: 'media', media: 'image', url: 'https://cdn.example.com/a.jpg', caption: 'A', filename: 'a.jpg' },
    { type: 'image', image: { link: 'https://cdn.example.com/a.jpg', caption: 'A' } }
  ],
  [
    'audio takes no caption',
    { kind: 'media', media: 'audio', url: 'https://cdn.example.com/a.ogg', caption: 'A' },
    { type: 'audio', audio: { link: 'https://cdn.example.com/a.ogg' } }
  ],
  [
    'document',
    { kind: 'media', media: 'document', url: 'https://cdn.example.com/i.pdf', caption: 'C', filename: 'invoice.pdf' },
    { type: 'document', document: { link: 'https://cdn.example.com/i.pdf', caption: 'C', filename: 'invoice.pdf' } }
  ],
  [
    'template without parameters',
    { kind: 'template', name: 'hello', language: 'en_US' },
    { type: 'template', template: { name: 'hello', language: { code: 'en_US' } } }
  ],
  [
    'template with header media, body and buttons',
    {
      kind: 'template',
      name: 'order_update',
      language: 'pt_BR',
      bodyParams: ['Ana', '42'],
      headerMediaUrl: 'https://cdn.example.com/h.jpg?v=1',
      buttonParams: ['', 'track/42']
    },
    {
      type: 'template',
      template: {
        name: 'order_update',
        language: { code: 'pt_BR' },
        components: [
          { type: 'header', parameters: [{ type: 'image', image: { link: 'https://cdn.example.com/h.jpg?v=1' } }] },
          {
            type: 'body',
            parameters: [
              { type: 'text', text: 'Ana' },
              { type: 'text', text: '42' }
            ]
          },
          { type: 'button', sub_type: 'url', index: '1', parameters: [{ type: 'text', text: 'track/42' }] }
        ]
      }
    }
  ],
  [
    'template with header text',
    { kind: 'template', name: 'x', language: 'en', headerText: '42' },
    {
      type: 'template',
      template: {
        name: 'x',
        language: { code: 'en' },
        components: [{ type: 'header', parameters: [{ type: 'text', text: '42' }] }]
      }
    }
  ],
  [
    'template with a header document',
    { kind: 'template', name: 'x', language: 'en', headerMediaUrl: 'https://cdn.example.com/d/i%20n.pdf' },
    {
      type: 'template',
      template: {
        name: 'x',
        language: { code: 'en' },
        components: [
          {
            type: 'header',
            parameters: [
              { type: 'document', document: { link: 'https://cdn.example.com/d/i%20n.pdf', filename: 'i n.pdf' } }
            ]
          }
        ]
      }
    }
  ],
  [
    'buttons',
    { kind: 'interactive', interactive: { type: 'buttons', body: 'Choose', buttons: [{ id: 'yes', title: 'Yes' }] } },
    {
      type: 'interactive',
      interactive: {
        type: 'button',
        body: { text: 'Choose' },
        action: { buttons: [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }] }
      }
    }
  ],
  [
    'list',
    {
      kind: 'interactive',
      interactive: {
        type: 'list',
        body: 'Pick one',
        buttonLabel: 'Open',
        sections: [{ title: 'Main', rows: [{ id: 'r1', title: 'Row 1', description: 'first' }] }]
      }
    },
    {
      type: 'interactive',
      interactive: {
        type: 'list',
        body: { text: 'Pick one' },
        action: {
          button: 'Open',
          sections: [{ title: 'Main', rows: [{ id: 'r1', title: 'Row 1', description: 'first' }] }]
        }
      }
    }
  ]
]

t.test('2 Sending: request bodies', async t => {
  const { server, connector } = await connect(t, () => ACCEPTED)
  for (const [name, content, body] of CONTENTS) {
    const answer = await connector.send(LINE, outbound(content), patience())
    t.same(answer, { kind: 'sent', providerId: 'wamid.OUT', address: '551100000001' }, name)
    const request = server.requests.at(-1)
    t.same(
      JSON.parse(request?.body ?? ''),
      {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: '+5511900000001',
        biz_opaque_callback_data: 'msg_1',
        ...body
      },
      name
    )
    t.equal(`${request?.method} ${request?.url}`, 'POST /v23.0/100/messages')
    t.match(request?.headers, { authorization: 'Bearer EAAB-token', 'content-type': 'application/json' })
  }
})

t.test('2 Sending: quotes, reactions, user ids', async t => {
  const { server, connector } = await connect(t, () => ACCEPTED)
  const bodyOf = async (message: Outbound) => {
    await connector.send(LINE, message, patience())
    return JSON.parse(server.requests.at(-1)?.body ?? '')
  }
  t.same((await bodyOf({ ...TEXT, quotedProviderId: 'wamid.Q' })).context, { message_id: 'wamid.Q' })
  const reaction = outbound({ kind: 'reaction', targetMessageId: 'msg_0', emoji: '👍' })
  const reacted = await bodyOf({ ...reaction, targetProviderId: 'wamid.T', quotedProviderId: 'wamid.Q' })
  t.same(reacted.reaction, { message_id: 'wamid.T', emoji: '👍' })
  t.notOk('context' in reacted, 'a reaction quotes nothing')
  const toUser = await bodyOf({ ...TEXT, to: 'BR.1349' })
  t.equal(toUser.recipient, 'BR.1349')
  t.notOk('to' in toUser)
  const before = server.requests.length
  t.match(await connector.send(LINE, reaction, patience()), { kind: 'refused', code: 'invalid_recipient' })
  t.equal(server.requests.length, before, 'a reaction without a target is not sent')
  t.match(await connector.send({ ...LINE, phoneNumberId: '1/../2?x' }, TEXT, patience()), { kind: 'sent' })
  t.equal(server.requests.at(-1)?.url, '/v23.0/1%2F..%2F2%3Fx/messages', 'ids stay one path segment')
})
