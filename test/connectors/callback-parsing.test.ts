import fc from 'fast-check'
import t from 'tap'
import { parseOfficialCallback } from '../../src/connectors/official/callbacks.ts'
import type { Update } from '../../src/connectors/port.ts'
import { parseUnofficialCallback } from '../../src/connectors/unofficial/callbacks.ts'

const OFFICIAL = {
  object: 'whatsapp_business_account',
  entry: [
    {
      id: '900',
      changes: [
        {
          field: 'messages',
          value: {
            metadata: { phone_number_id: '100' },
            contacts: [{ profile: { name: 'Ana' }, wa_id: '551', user_id: 'BR.1' }],
            messages: [
              {
                from: '551',
                id: 'w1',
                timestamp: '1767000000',
                type: 'text',
                text: { body: 'x' },
                context: { id: 'q' }
              },
              { from: '551', id: 'w2', type: 'image', image: { id: '9', mime_type: 'image/jpeg', file_size: 5 } },
              { from: '551', id: 'w3', type: 'sticker', sticker: { id: '9', mime_type: 'image/webp' } },
              { from: '551', id: 'w4', type: 'reaction', reaction: { message_id: 'w0', emoji: '👍' } },
              { from: '551', id: 'w5', type: 'interactive', interactive: { list_reply: { id: 'r', title: 't' } } },
              { from: '551', id: 'w6', type: 'interactive', interactive: { nfm_reply: { response_json: '{}' } } },
              { from: '551', id: 'w7', type: 'button', button: { payload: 'p', text: 't' } }
            ],
            statuses: [
              { id: 'w8', status: 'failed', timestamp: '1767000000', recipient_id: '551', errors: [{ code: 131026 }] }
            ]
          }
        },
        {
          field: 'account_update',
          value: { event: 'ACCOUNT_RESTRICTION', restriction_info: [{ expiration: 1767600000 }] }
        },
        { field: 'user_preferences', value: { user_preferences: [{ wa_id: '551', value: 'stop' }] } },
        { field: 'message_template_status_update', value: { event: 'APPROVED', message_template_language: 'en-US' } }
      ]
    }
  ]
}

const unofficial = (event: string, payload: object) => ({
  id: 'evt_1',
  timestamp: 1767000000123,
  event,
  session: 's1',
  me: { id: '551@c.us' },
  payload
})
const UNOFFICIAL = [
  unofficial('message.any', {
    id: 'false_551@c.us_3A00',
    timestamp: 1767000000,
    from: '551@c.us',
    fromMe: false,
    body: 'x',
    hasMedia: true,
    media: { url: 'http://x/api/files/a.jpg', mimetype: 'image/jpeg' },
    replyTo: { id: '3EB0' },
    location: { latitude: '1' },
    vCards: ['x'],
    _data: {
      key: { remoteJidAlt: '7@lid' },
      message: { ephemeralMessage: { message: { imageMessage: { fileLength: 1 } } } }
    }
  }),
  unofficial('message.any', {
    id: { fromMe: false, remote: '551@c.us', id: '3A00' },
    body: null,
    _data: { Message: { listResponseMessage: { singleSelectReply: { selectedRowID: 'r' } } } }
  }),
  unofficial('message.ack', { id: 'true_551@c.us_3EB0', fromMe: true, ack: -1, error: { code: '463', until: 'x' } }),
  unofficial('message.reaction', {
    id: 'false_551@c.us_3A01',
    reaction: { text: 'x', messageId: 'true_551@c.us_3EB0' }
  }),
  unofficial('session.status', {
    status: 'WORKING',
    data: { reachoutTimelock: { isActive: true, timeEnforcementEnds: 1 } }
  })
]

/** Every place in a body, as the keys that lead there. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))]
}

function withValueAt(value: unknown, path: readonly string[], replacement: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return replacement
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? withValueAt(item, rest, replacement) : item))
  const node = value as { [key: string]: unknown }
  return { ...node, [key]: withValueAt(node[key], rest, replacement) }
}

const oddity = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(
    '',
    '_',
    'true__',
    '@',
    '@lid',
    -1,
    1e300,
    8.64e15,
    [],
    {},
    [null],
    { id: {} },
    '9'.repeat(400),
    undefined
  )
)

const mutated = (body: object) =>
  fc
    .array(fc.tuple(fc.constantFrom(...pathsOf(body)), oddity), { minLength: 1, maxLength: 3 })
    .map(changes =>
      changes.reduce<unknown>(
        (value, [path, odd]) => (reaches(value, path) ? withValueAt(value, path, odd) : value),
        body
      )
    )

function reaches(value: unknown, path: readonly string[]): boolean {
  const [key, ...rest] = path
  if (key === undefined) return true
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false
  return reaches((value as { [key: string]: unknown })[key], rest)
}

/** What later parts rely on whatever the body was: ids and addresses are texts that say something, times are ISO. */
function isSound(update: Update): boolean {
  if ('providerId' in update && (typeof update.providerId !== 'string' || update.providerId === '')) return false
  if (update.kind === 'inbound' && (typeof update.from !== 'string' || update.from === '')) return false
  if (update.kind === 'status' && (update.code === null) !== (update.status !== 'failed')) return false
  if ('providerAt' in update && update.providerAt !== null && Number.isNaN(Date.parse(update.providerAt))) return false
  return true
}

t.test('official bodies, bent in places, are read or ignored', async t => {
  t.notOk(
    parseOfficialCallback(OFFICIAL).some(change => change.updates.length === 0),
    'the body itself is full of news'
  )
  fc.assert(
    fc.property(mutated(OFFICIAL), body => parseOfficialCallback(body).every(change => change.updates.every(isSound))),
    { numRuns: 2_000 }
  )
})

t.test('unofficial bodies, bent in places, are read or ignored', async t => {
  for (const body of UNOFFICIAL) {
    t.not(parseUnofficialCallback(body).updates[0]?.kind, 'ignored')
    fc.assert(
      fc.property(mutated(body), odd => parseUnofficialCallback(odd).updates.every(isSound)),
      { numRuns: 500 }
    )
  }
})

t.test('any JSON at all is read or ignored', async t => {
  const outcome = fc.check(
    fc.property(fc.jsonValue(), body => {
      parseOfficialCallback(body)
      return parseUnofficialCallback(body).updates.length === 1
    })
  )
  t.equal(outcome.failed, false)
})
