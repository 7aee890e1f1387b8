/** Callbacks with values that no platform should send, each of which once was answered 500, and so would have come for days. */
import t from 'tap'
import { WABA_ID } from '../support/platforms.ts'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, { official: { autoStatuses: false } })
const { official } = world
const tenant = await world.tenant('acme')
const channel = await tenant.officialNumber(official)
const hooks = await tenant.receiver(t)

const metadata = { display_phone_number: channel.number, phone_number_id: channel.phoneNumberId }
const at = String(Math.floor(Date.now() / 1000))
const message = (more: object = {}) => ({
  from: someone(),
  id: `wamid.${Math.random()}`,
  timestamp: at,
  type: 'text',
  text: { body: 'odd' },
  ...more
})
const status = (id: string, more: object) => ({ id, status: 'delivered', timestamp: at, ...more })
const template = (more: object) => ({
  event: 'APPROVED',
  message_template_name: 'n',
  message_template_language: 'en',
  ...more
})
const LONG = 'x'.repeat(5_000)
/** After the year 9999, in Unix seconds. */
const FAR = '999999999999'

const ROWS: readonly (readonly [string, string, (wamid: string) => object])[] = [
  ['an overlong sender', 'messages', () => ({ messages: [message({ from: LONG })] })],
  ['an overlong id of a message', 'messages', () => ({ messages: [message({ id: LONG })] })],
  ['a time after the year 9999', 'messages', () => ({ messages: [message({ timestamp: FAR })] })],
  ['an overlong recipient', 'messages', id => ({ statuses: [status(id, { recipient_id: LONG })] })],
  ['a report of the far future', 'messages', id => ({ statuses: [status(id, { timestamp: FAR, status: 'read' })] })],
  [
    "another program's callback data",
    'messages',
    id => ({ statuses: [status(id, { biz_opaque_callback_data: 'msg_Ação nº 1' })] })
  ],
  ['an overlong name of a template', 'message_template_status_update', () => template({ message_template_name: LONG })],
  ['an overlong language', 'message_template_status_update', () => template({ message_template_language: LONG })]
]

for (const [name, field, value] of ROWS)
  t.test(`${name} does no harm to what is right beside it`, async t => {
    const { messageId } = await tenant.send(channel.id)
    await tenant.reaches(messageId, 'sent')
    const wamid = (await official.sends()).at(-1)?.wamid ?? ''
    const from = someone()
    const answer = await official.callback({
      object: 'whatsapp_business_account',
      entry: [
        {
          id: WABA_ID,
          changes: [
            { field, value: { metadata, ...value(wamid) } },
            { field: 'messages', value: { metadata, messages: [message({ from })] } }
          ]
        }
      ]
    })
    t.equal(answer.status, 200)
    await hooks.got('what is right', ({ data }) => data.from === from)
  })
