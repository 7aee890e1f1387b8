import t from 'tap'
import { eventually, startWorld, WABA } from './official-world.ts'

const BODY = { type: 'BODY', text: 'Hi {{1}}, order {{2}} left today.', example: { body_text: [['Ana', '42']] } }
const order = { name: 'order_update', language: 'pt_BR', category: 'UTILITY', components: [BODY] }
const texts = (...values: string[]) => ({
  type: 'body',
  parameters: values.map(value => ({ type: 'text', text: value }))
})
const call = (components: unknown[], name = 'order_update', code = 'pt_BR') => ({
  type: 'template',
  template: { name, language: { code }, components }
})

t.test('a new template is pending until the review reports by webhook', async t => {
  const world = await startWorld(t)
  const create = (change: object = {}) => world.graph('POST', `${WABA}/message_templates`, { ...order, ...change })
  await world.control('POST', 'settings', { templateReview: { delayMs: 150 } })
  const { body: created } = await create()
  t.match(created, { id: String, status: 'PENDING', category: 'UTILITY' })
  t.equal((await world.send(call([texts('Ana', '42')]))).body.error.code, 132001, 'not approved yet')
  const event = await eventually(() => world.values().find(value => value.message_template_id))
  t.match(event, {
    event: 'APPROVED',
    message_template_id: Number(created.id),
    message_template_language: 'pt_BR',
    reason: 'NONE'
  })
  t.match((await world.send(call([texts('Ana', '42')]))).body.messages, [{ message_status: 'accepted' }])
  t.match((await create()).body.error, { code: 100, error_subcode: 2388024 })
  t.match((await create({ name: 'edge', components: [{ ...BODY, text: '{{1}} and {{2}} are late' }] })).body.error, {
    error_subcode: 2388299
  })
  t.match((await create({ name: 'no_body', components: [] })).body.error, { error_subcode: 2388072 })
  await world.control('POST', 'settings', { templateReview: { outcome: 'REJECTED', delayMs: 0 } })
  await create({ name: 'bad_one' })
  await eventually(() => world.values().find(value => value.event === 'REJECTED'))
  const list = (await world.graph('GET', `${WABA}/message_templates?status=REJECTED&fields=name,rejected_reason`)).body
    .data
  t.match(list, [{ name: 'bad_one', rejected_reason: 'INVALID_FORMAT' }])
  t.same((await world.graph('POST', created.id, { components: [BODY] })).body.success, true)
  t.same((await world.graph('DELETE', `${WABA}/message_templates?name=order_update`)).body, { success: true })
  t.match((await world.graph('GET', created.id)).body, { error: { code: 100, error_subcode: 33 } })
})

t.test('parameters must fit the template', async t => {
  const world = await startWorld(t)
  const url = { type: 'URL', text: 'Track', url: 'https://example.com/{{1}}' }
  await world.control('POST', 'templates', [
    { wabaId: WABA, ...order },
    {
      wabaId: WABA,
      ...order,
      name: 'rich',
      components: [{ type: 'HEADER', format: 'IMAGE' }, BODY, { type: 'BUTTONS', buttons: [url] }]
    },
    {
      wabaId: WABA,
      ...order,
      name: 'named',
      parameterFormat: 'NAMED',
      components: [{ type: 'BODY', text: 'Hi {{who}}!' }]
    },
    { wabaId: WABA, ...order, name: 'paused', status: 'PAUSED' },
    { wabaId: WABA, ...order, name: 'disabled', status: 'DISABLED' },
    { wabaId: WABA, ...order, name: 'code', category: 'AUTHENTICATION' }
  ])
  const codeOf = async (message: object) => (await world.send({ ...message })).body.error?.code
  const body = texts('Ana', '42')
  const image = { type: 'header', parameters: [{ type: 'image', image: { link: 'https://example.com/a.jpg' } }] }
  const button = { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: 'x' }] }
  const counted = await world.send(call([texts('Ana')]))
  t.match(counted.body.error, { code: 132000, error_data: { details: /\(1\) does not match .* \(2\)/ } })
  t.match(await world.send(call([body], 'order_update', 'en_US')), { status: 404, body: { error: { code: 132001 } } })
  t.equal(await codeOf(call([texts('Ana', 'a\nb')])), 132012)
  t.equal(await codeOf(call([texts('Ana', 'x'.repeat(1100))])), 132005)
  t.equal(await codeOf(call([body, button], 'rich')), 132012, 'no image in the header')
  t.equal(await codeOf(call([image, body], 'rich')), 131008, 'no parameter for the button')
  t.equal(await codeOf(call([image, body, button], 'rich')), undefined)
  t.equal(await codeOf(call([body, button])), 132018, 'no such button')
  t.equal(await codeOf(call([texts('Ana')], 'named')), 132012, 'the name of the parameter is missing')
  const named = { type: 'body', parameters: [{ type: 'text', text: 'Ana', parameter_name: 'who' }] }
  t.equal(await codeOf(call([named], 'named')), undefined)
  t.equal(await codeOf(call([body], 'paused')), 132015)
  t.equal(await codeOf(call([body], 'disabled')), 132016)
  t.equal(await codeOf({ to: undefined, recipient: 'BR.1', ...call([body], 'code') }), 131062)
})
