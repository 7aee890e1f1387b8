/** What bad input gets, route by route: exact status and code, and no door is knocked at. */
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { PERMISSIONS } from '../../src/domain/tenant.ts'
import { type Ask, assertRefusal, type Listening, listen } from './listening.ts'
import { addressOf, nameOf, ROUTES, type Route } from './routes-table.ts'
import { id, KEYS, UNKNOWN } from './stub-doors.ts'

type Case = readonly [name: string, ask: Partial<Ask>, status: number, code: string, paths?: readonly string[]]

const unauthorized = (name: string, ask: Partial<Ask>): Case => [name, ask, 401, 'unauthorized']

function keyCases(route: Route): readonly Case[] {
  const cases = [
    unauthorized('no key', { key: null }),
    unauthorized('no key, malformed body', { key: null, body: '{' }),
    unauthorized('empty key', { key: '' }),
    unauthorized('not a key', { key: 'secret' }),
    unauthorized('unknown key', { key: `llk_${'z'.repeat(43)}` }),
    unauthorized('expired key', { key: KEYS.expired }),
    unauthorized('another scheme', { key: null, headers: { authorization: `Basic ${KEYS.full}` } }),
    unauthorized('key of the other API', { key: null, headers: { 'x-api-key': KEYS.full } })
  ]
  const barred: Case = ['missing permission', { key: KEYS.limited }, 403, 'forbidden']
  const barredEarly: Case = ['missing permission, malformed body', { key: KEYS.limited, body: '{' }, 403, 'forbidden']
  if (route.body === undefined) return [...cases, barred]
  const oversized = unauthorized('no key, oversized body', { key: null, body: 'x'.repeat(100_000) })
  return [...cases, barred, barredEarly, oversized]
}

function idCases(route: Route): readonly Case[] {
  const { prefix, notFound, body } = route
  if (prefix === undefined || notFound === undefined) return []
  const at = (name: string, value: string): Case => [
    name,
    { path: route.path.replace('{}', value), body },
    404,
    notFound
  ]
  return [
    at('id without a prefix', 'xyz'),
    at('id of another kind', id('tag')),
    at('id in capitals', id(prefix).toUpperCase()),
    at('id that is too short', `${prefix}_0`),
    at('id that is too long', `${id(prefix)}0`),
    at('id with a NUL', `${prefix}_%00`),
    at('id that is not ASCII', `${prefix}_%C3%A9`)
  ]
}

function queryCases(route: Route): readonly Case[] {
  const { query = {} } = route
  const at = addressOf({ ...route, query: {} }).replace('?', '')
  return Object.keys(query).flatMap((name): readonly Case[] => {
    const asking = (value: readonly string[]): Partial<Ask> => {
      const others = Object.entries(query).filter(([other]) => other !== name)
      return { path: `${at}?${new URLSearchParams([...others, ...value.map((one): [string, string] => [name, one])])}` }
    }
    return [
      [`without ${name}`, asking([]), 422, 'validation_failed', [name]],
      [`empty ${name}`, asking(['']), 422, 'validation_failed', [name]],
      [`malformed ${name}`, asking(['soon']), 422, 'validation_failed', [name]],
      [`${name} twice`, asking([query[name] ?? '', query[name] ?? '']), 422, 'validation_failed', [name]]
    ]
  })
}

function listCases(route: Route): readonly Case[] {
  if (route.isList === undefined) return []
  const limits = ['0', '101', '-1', '1.5', 'ten', '', '1e1', '99999999999999999999'].map(
    (value): Case => [
      `limit=${value}`,
      { path: `${addressOf(route)}?limit=${value}` },
      422,
      'validation_failed',
      ['limit']
    ]
  )
  const empty = `${addressOf(route)}?${route.isList}=`
  return [
    ...limits,
    ['limit twice', { path: `${addressOf(route)}?limit=1&limit=2` }, 422, 'validation_failed', ['limit']],
    ['empty cursor', { path: empty }, 422, 'validation_failed', [route.isList]]
  ]
}

const withExtra = (body: object, extra: string): string => JSON.stringify(body).replace(/^\{/, `{${extra},`)

function bodyCases(route: Route): readonly Case[] {
  const { body, required = [], bodyLimit = 64 * 1024, bodyOptional = false } = route
  if (body === undefined) return []
  const text = JSON.stringify(body)
  const invalid = (name: string, value: unknown, ...paths: readonly string[]): Case => [
    name,
    { body: value },
    422,
    'validation_failed',
    paths
  ]
  const without = (name: string) => Object.fromEntries(Object.entries(body).filter(([key]) => key !== name))
  const media = (type: string): Case => [
    `media type ${type}`,
    { body: text, headers: { 'content-type': type } },
    415,
    'unsupported_media_type'
  ]
  const missing: readonly Case[] = [
    ['empty body', { body: '' }, 400, 'malformed_json'],
    ['no body at all', {}, 400, 'malformed_json']
  ]
  return [
    ...(bodyOptional ? [] : missing),
    ['malformed JSON', { body: text.slice(0, -1) }, 400, 'malformed_json'],
    ['a second value behind the body', { body: `${text}{}` }, 400, 'malformed_json'],
    [
      'invalid UTF-8',
      { body: Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]) },
      400,
      'malformed_json'
    ],
    [
      'a surrogate in UTF-8',
      { body: Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]) },
      400,
      'malformed_json'
    ],
    ['UTF-16', { body: Buffer.from(text, 'utf16le') }, 400, 'malformed_json'],
    ['oversized', { body: withExtra(body, `"pad":"${'x'.repeat(bodyLimit)}"`) }, 413, 'payload_too_large'],
    [
      'gzip bomb',
      { body: gzipSync(' '.repeat(5_000_000)), headers: { 'content-encoding': 'gzip' } },
      415,
      'unsupported_media_type'
    ],
    media('text/plain'),
    media('application/x-www-form-urlencoded'),
    media('application/jsonp'),
    media('nonsense'),
    invalid('null', 'null', ''),
    invalid('an array', '[]', ''),
    invalid('a string', '"x"', ''),
    invalid('unknown property', { ...body, extra: 1 }, 'extra'),
    invalid('own __proto__', withExtra(body, '"__proto__":{"isAdmin":true}'), '__proto__'),
    invalid('escaped __proto__', withExtra(body, '"\\u005f_proto__":{}'), '__proto__'),
    invalid('constructor', withExtra(body, '"constructor":{"prototype":{}}'), 'constructor'),
    invalid('NUL in an unknown place', withExtra(body, '"x":["a\\u0000"]'), 'x[0]'),
    invalid('lone surrogate in an unknown place', withExtra(body, '"x":{"y":"\\ud800"}'), 'x.y'),
    invalid('deep nesting', '['.repeat(30_000) + ']'.repeat(30_000), ''),
    ...required.map(name => invalid(`without ${name}`, without(name), name)),
    ...Object.keys(body).map(name => invalid(`${name} of a wrong type`, { ...body, [name]: 7 }, name))
  ]
}

async function check(t: Test, { stub, ask }: Listening, route: Route, cases: readonly Case[]): Promise<void> {
  for (const [name, asking, status, code, paths] of cases) {
    stub.allow(PERMISSIONS.filter(permission => permission !== route.permission))
    stub.calls.length = 0
    const answer = await ask({ method: route.method, path: addressOf(route), ...asking })
    t.test(name, async t => {
      assertRefusal(t, answer, status, code, paths)
      if (status === 401) t.equal(answer.headers['www-authenticate'], 'Bearer')
    })
    t.strictSame(stub.calls, [], `${name}: no door is knocked at`)
  }
}

t.test('what bad input gets', async t => {
  const listening = await listen(t)
  for (const route of ROUTES) {
    t.test(nameOf(route), async t => {
      const cases = [
        ...keyCases(route),
        ...idCases(route),
        ...listCases(route),
        ...queryCases(route),
        ...bodyCases(route)
      ]
      await check(t, listening, route, cases)
    })
  }
  t.equal(Object.getOwnPropertyNames(Object.prototype).includes('isAdmin'), false, 'no prototype was touched')
})

t.test("another tenant's things do not exist", async t => {
  const { stub, ask } = await listen(t)
  for (const route of ROUTES) {
    const { notFound, body } = route
    if (notFound === undefined) continue
    const answer = await ask({ method: route.method, path: addressOf(route, UNKNOWN), body })
    t.test(nameOf(route), async t => assertRefusal(t, answer, 404, notFound))
    t.equal(stub.calls.at(-1)?.door, route.door)
  }
})

t.test('shape is looked at before scope', async t => {
  const { ask } = await listen(t)
  const answer = await ask({ method: 'POST', path: '/v1/channels/xyz/messages', body: {} })
  assertRefusal(t, answer, 422, 'validation_failed', ['to', 'content', 'idempotencyKey'])
})

t.test('a cursor that is not ours', async t => {
  const { stub, ask } = await listen(t)
  for (const route of ROUTES) {
    if (route.isList === undefined) continue
    stub.once(route.door, () => {
      throw Object.assign(new Error('bad'), { name: 'BadCursor' })
    })
    const answer = await ask({ path: `${addressOf(route)}?${route.isList}=junk` })
    t.test(nameOf(route), async t => assertRefusal(t, answer, 422, 'validation_failed', [String(route.isList)]))
  }
})
