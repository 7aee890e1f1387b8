/** The document that falls out of the schemas. */
import t from 'tap'
import { listen } from './listening.ts'
import { nameOf, ROUTES } from './routes-table.ts'

type Operation = {
  readonly summary?: string
  readonly security?: readonly object[]
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly examples?: object }>>
  }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: object }>>
}
type Schema = Readonly<Record<string, unknown>>
type Document = {
  readonly openapi: string
  readonly security: readonly object[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Record<string, Schema>; readonly securitySchemes: object }
}

const OPEN = [
  'GET /webhooks/official',
  'POST /webhooks/official',
  'POST /webhooks/unofficial/{}',
  'GET /healthz',
  'GET /readyz'
]

/** Bytes, two ids: it has tests of its own. */
const MEDIA = 'GET /v1/media/{}/{}'

t.test('openapi.json', async t => {
  const { ask } = await listen(t)
  const answer = await ask({ path: '/openapi.json', key: null })
  t.equal(answer.status, 200)
  const document = answer.json as unknown as Document
  t.equal(document.openapi, '3.1.0')
  t.match(document.components.securitySchemes, { bearer: { type: 'http', scheme: 'bearer' } })
  t.strictSame(document.security, [{ bearer: [] }])

  const operations = new Map<string, Operation>()
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      operations.set(`${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`, operation)
    }
  }
  t.strictSame(
    [...operations.keys()].sort(),
    [...ROUTES.map(nameOf), ...OPEN, MEDIA].sort(),
    'every route, and no other'
  )
  for (const [name, { summary, responses }] of operations) {
    t.ok(summary, `${name} has a summary`)
    for (const [status, { description }] of Object.entries(responses)) {
      t.not(description, 'Default Response', `${name} ${status} says what it is`)
    }
  }
  for (const route of ROUTES) {
    const operation = operations.get(nameOf(route))
    t.ok(operation?.responses[route.success], `${nameOf(route)} documents its ${route.success}`)
    t.match(operation?.responses[401], {
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
    })
    t.equal(operation?.requestBody !== undefined, route.body !== undefined)
    t.equal(operation?.security, undefined, 'needs the key')
    if (route.prefix) t.ok(operation?.parameters?.some(parameter => parameter.in === 'path'))
  }
  for (const name of OPEN) t.strictSame(operations.get(name)?.security, [])

  const send = operations.get('POST /v1/channels/{}/messages')?.requestBody?.content['application/json']
  t.match(send?.schema, { type: 'object', additionalProperties: false, required: ['to', 'content', 'idempotencyKey'] })
  t.ok(send?.examples, 'has an example')
  t.match(JSON.stringify(send), /"maxLength":4096/)
  const batch = operations.get('POST /v1/channels/{}/messages/batch')?.requestBody?.content['application/json']
  t.match(batch?.schema, {
    type: 'object',
    additionalProperties: false,
    required: ['messages'],
    properties: { messages: { type: 'array', minItems: 1, maxItems: 2000, items: { ...send?.schema } } }
  })
  t.ok(batch?.examples, 'has an example')
  const renotify = operations.get('POST /v1/messages/renotify')?.parameters
  for (const name of ['from', 'to']) {
    t.match(
      renotify?.find(parameter => parameter.name === name),
      { in: 'query', required: true, schema: { type: 'string', format: 'date-time' } }
    )
  }
  const window = operations.get('GET /v1/messages/metrics')?.parameters?.find(({ name }) => name === 'window')
  t.match(window, { required: false, schema: { default: '30d' } })
  const limit = operations.get('GET /v1/channels')?.parameters?.find(parameter => parameter.name === 'limit')
  t.match(limit, { in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 100 } })
  for (const [, name = ''] of answer.text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    t.ok(document.components.schemas[name], `${name} is there`)
  }
  t.notMatch(answer.text, /__SCHEMA__/)
})

t.test('docs', async t => {
  const { ask } = await listen(t)
  const page = await ask({ path: '/docs', key: null })
  t.equal(page.status, 200)
  t.match(page.headers['content-type'], /^text\/html/)
  t.notMatch(String(page.headers['content-security-policy']), /upgrade-insecure|https:/)
})
