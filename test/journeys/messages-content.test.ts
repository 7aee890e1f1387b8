/** Every content kind on both kinds of numbers: what the platform gets, and the lean form in `message.sent`. */
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { WABA_ID } from '../support/platforms.ts'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t)
const { official, unofficial } = world
const tenant = await world.tenant('acme')
await official.control('POST', 'templates', {
  wabaId: WABA_ID,
  name: 'order_shipped',
  language: 'en',
  components: [{ type: 'BODY', text: 'Order {{1}} left for {{2}}.' }]
})
const native = await tenant.officialNumber(official)
const paired = await tenant.unofficialNumber(unofficial, '5511955550001')
const hooks = await tenant.receiver(t)
type Listed = { items: { name: string; body: string | null }[] }
await eventually('the templates of the account that was connected', async () => {
  const { items } = (await tenant.ask<Listed>('GET', '/v1/templates')).body
  return items.some(one => one.name === 'order_shipped' && one.body === 'Order {{1}} left for {{2}}.')
})
await tenant.ask('PUT', '/v1/templates', {
  name: 'visit',
  language: 'pt_BR',
  body: 'Visita dia {{1}}.',
  header: 'Oi {{1}}',
  footer: 'A loja'
})

const URL_OF = (file: string): string => `http://127.0.0.1:9/${file}`
const BUTTONS = {
  type: 'buttons',
  body: 'Yes or no?',
  buttons: [
    { id: 'y', title: 'Yes' },
    { id: 'n', title: 'No' }
  ]
}
const LIST = {
  type: 'list',
  body: 'Pick one',
  buttonLabel: 'Open',
  sections: [{ title: 'Cakes', rows: [{ id: 'c1', title: 'Carrot', description: 'With icing' }] }]
}

type Row = {
  /** Heading of the rule in the specification. */
  readonly rule: string
  readonly content: Readonly<Record<string, unknown>>
  /** What the official platform, and the endpoint and body that an instance, must be given. */
  readonly official?: object
  readonly unofficial?: readonly [string, object]
  /** `data.content` of `message.sent`; the content as sent when it is not here. */
  readonly lean?: object
}
const media = (kind: string, file: string, more: object = {}) => ({
  kind: 'media',
  media: kind,
  url: URL_OF(file),
  ...more
})
const ROWS: readonly Row[] = [
  {
    rule: 'Message content: text',
    content: { kind: 'text', text: 'Olá 👋' },
    official: { type: 'text', text: { body: 'Olá 👋' } },
    unofficial: ['sendText', { text: 'Olá 👋' }]
  },
  {
    rule: 'Message content: media, image',
    content: media('image', 'a.png', { caption: 'A view' }),
    official: { type: 'image', image: { link: URL_OF('a.png'), caption: 'A view' } },
    unofficial: ['sendImage', { caption: 'A view', file: { url: URL_OF('a.png'), mimetype: 'image/png' } }],
    lean: { kind: 'media', media: 'image', caption: 'A view' }
  },
  {
    rule: 'Message content: media, video',
    content: media('video', 'a.mp4'),
    official: { type: 'video', video: { link: URL_OF('a.mp4') } },
    unofficial: ['sendVideo', { file: { url: URL_OF('a.mp4') } }],
    lean: { kind: 'media', media: 'video' }
  },
  {
    rule: 'Message content: media, audio',
    content: media('audio', 'a.ogg'),
    official: { type: 'audio', audio: { link: URL_OF('a.ogg') } },
    unofficial: ['sendVoice', { file: { url: URL_OF('a.ogg') } }],
    lean: { kind: 'media', media: 'audio' }
  },
  {
    rule: 'Message content: media, document',
    content: media('document', 'a.pdf', { filename: 'Bill.pdf' }),
    official: { type: 'document', document: { link: URL_OF('a.pdf'), filename: 'Bill.pdf' } },
    unofficial: ['sendFile', { file: { url: URL_OF('a.pdf'), filename: 'Bill.pdf' } }],
    lean: { kind: 'media', media: 'document', filename: 'Bill.pdf' }
  },
  {
    rule: 'Message content: template, native on an official channel',
    content: { kind: 'template', name: 'order_shipped', language: 'en', bodyParams: ['17', 'Rio'] },
    official: {
      type: 'template',
      template: {
        name: 'order_shipped',
        language: { code: 'en' },
        components: [
          {
            type: 'body',
            parameters: [
              { type: 'text', text: '17' },
              { type: 'text', text: 'Rio' }
            ]
          }
        ]
      }
    },
    lean: {
      kind: 'template',
      name: 'order_shipped',
      language: 'en',
      params: ['17', 'Rio'],
      rendered: 'Order 17 left for Rio.'
    }
  },
  {
    rule: 'Message content: template, rendered as text on an unofficial channel',
    content: { kind: 'template', name: 'visit', language: 'pt_BR', bodyParams: ['3'], headerText: 'Ana' },
    unofficial: ['sendText', { text: 'Oi Ana\n\nVisita dia 3.\n\nA loja' }],
    lean: {
      kind: 'template',
      name: 'visit',
      language: 'pt_BR',
      params: ['3'],
      rendered: 'Oi Ana\n\nVisita dia 3.\n\nA loja'
    }
  },
  {
    rule: 'Message content: interactive, buttons',
    content: { kind: 'interactive', interactive: BUTTONS },
    official: {
      type: 'interactive',
      interactive: {
        type: 'button',
        body: { text: 'Yes or no?' },
        action: {
          buttons: [
            { type: 'reply', reply: { id: 'y', title: 'Yes' } },
            { type: 'reply', reply: { id: 'n', title: 'No' } }
          ]
        }
      }
    },
    unofficial: ['sendText', { text: 'Yes or no?\n\n1. Yes\n2. No' }]
  },
  {
    rule: 'Message content: interactive, list',
    content: { kind: 'interactive', interactive: LIST },
    official: {
      type: 'interactive',
      interactive: {
        type: 'list',
        body: { text: 'Pick one' },
        action: { button: 'Open', sections: LIST.sections }
      }
    },
    unofficial: ['sendText', { text: 'Pick one\n\n*Cakes*\n1. Carrot - With icing' }]
  }
]

const post = (ref: string, content: object, more: object = {}) => {
  const key = `content-${process.pid}-${Math.random()}`
  return tenant.ask<{ messageId: string }>('POST', `/v1/channels/${ref}/messages`, {
    to: someone(),
    content,
    idempotencyKey: key,
    ...more
  })
}
const officialSend = async (messageId: string) => (await official.sends()).find(send => send.callbackData === messageId)
const unofficialSends = async () =>
  (
    await unofficial.control<{ list: { endpoint: string; chatId: string; body: object; id: string }[] }>(
      'GET',
      'sends?list=1'
    )
  ).list
const sentEvent = async (messageId: string) =>
  (await hooks.got('message.sent', ({ type, data }) => type === 'message.sent' && data.messageId === messageId)).event
await unofficial.control('POST', 'settings', { fetchFiles: false })

for (const row of ROWS)
  t.test(row.rule, async t => {
    if (row.official) {
      const { status, body } = await post(native.id, row.content)
      t.equal(status, 202)
      await tenant.reaches(body.messageId, 'read')
      t.match((await officialSend(body.messageId))?.body, row.official)
      t.same((await sentEvent(body.messageId)).data.content, row.lean ?? row.content, 'lean, of an official number')
    }
    if (row.unofficial) {
      const before = (await unofficialSends()).length
      const { status, body } = await post(paired.id, row.content)
      t.equal(status, 202)
      const tracked = await eventually('an end', async () => {
        const seen = await tenant.track(body.messageId)
        return ['read', 'failed'].includes(seen.state) && seen
      })
      t.equal(tracked.state, 'read', tracked.lastError ?? 'no error')
      const [endpoint, shape] = row.unofficial
      t.match((await unofficialSends())[before], { endpoint, body: shape })
      const event = await sentEvent(body.messageId)
      t.same(event.data.content, row.lean ?? row.content, 'lean, of an unofficial number')
      t.equal(event.engine, 'noweb', 'engine is present on unofficial channel events')
      t.equal(event.provider, 'unofficial_platform')
    }
  })

t.test(
  'Events, message.sent: rendered is the text of the native template, whatever the workspace calls so',
  async t => {
    await tenant.ask('PUT', '/v1/templates', { name: 'order_shipped', language: 'en', body: 'Ours {{1}} {{2}}' })
    const { body } = await post(native.id, {
      kind: 'template',
      name: 'order_shipped',
      language: 'en',
      bodyParams: ['1', 'X']
    })
    t.match((await sentEvent(body.messageId)).data.content, { rendered: 'Order 1 left for X.' })
  }
)

t.test('Events, message.sent: rendered is absent when the template is not known', async t => {
  await official.control('POST', 'templates', {
    wabaId: WABA_ID,
    name: 'made_later',
    language: 'en',
    components: [{ type: 'BODY', text: 'News.' }]
  })
  const { body } = await post(native.id, { kind: 'template', name: 'made_later', language: 'en' })
  await tenant.reaches(body.messageId, 'read')
  t.same((await sentEvent(body.messageId)).data.content, {
    kind: 'template',
    name: 'made_later',
    language: 'en',
    params: []
  })
})

t.test('Events, message.status: template_call_invalid, on both kinds of numbers', async t => {
  for (const ref of [native.id, paired.id]) {
    const { body } = await post(ref, { kind: 'template', name: 'nobody_knows_it', language: 'en' })
    t.match(await tenant.reaches(body.messageId, 'failed'), { lastError: 'template_call_invalid' })
    t.same(await hooks.told(body.messageId, 1), ['failed'])
  }
})
