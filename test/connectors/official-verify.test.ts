import t, { type Test } from 'tap'
import { createOfficialConnector } from '../../src/connectors/official/connector.ts'
import type { OfficialLine } from '../../src/connectors/port.ts'
import { closedAddress, type Reaction, type Recorded, startRecordingServer } from './recording-server.ts'

const LINE: OfficialLine = { kind: 'official', phoneNumberId: '100', wabaId: '900', accessToken: 'EAAB-token' }
const NUMBER = {
  id: '100',
  display_phone_number: '+55 11 90000-0001',
  verified_name: 'Acme',
  platform_type: 'CLOUD_API'
}

const ok = (body: object): Reaction => ({ status: 200, body })
const error = (status: number, code: number, subcode?: number): Reaction => ({
  status,
  body: { error: { code, message: 'text EAAB-token', error_subcode: subcode } }
})

async function connect(t: Test, react: (request: Recorded) => Reaction) {
  const server = await startRecordingServer(react)
  const connector = createOfficialConnector({ baseUrl: server.baseUrl, timeoutMs: 5_000 })
  t.teardown(async () => {
    await server.close()
    await connector.close()
  })
  return { server, connector }
}

t.test('4.1 Read a number, 4.2 List numbers: found on the second page', async t => {
  const { server, connector } = await connect(t, ({ url }) => {
    if (url.startsWith('/100?')) return ok(NUMBER)
    if (url.includes('after=QVFI2')) return ok({ data: [{ id: '100' }], paging: { cursors: { after: 'QVFI3' } } })
    return ok({ data: [{ id: '99' }], paging: { cursors: { before: 'a', after: 'QVFI2' }, next: 'https://x' } })
  })
  t.same(await connector.verify(LINE), {
    kind: 'ok',
    value: { number: '5511900000001', verifiedName: 'Acme', platformType: 'CLOUD_API' }
  })
  t.same(
    server.requests.map(request => request.url),
    [
      '/100?fields=id,display_phone_number,verified_name,platform_type',
      '/900/phone_numbers?fields=id&limit=100',
      '/900/phone_numbers?fields=id&limit=100&after=QVFI2'
    ]
  )
  t.equal(server.requests[0]?.headers.authorization, 'Bearer EAAB-token')
})

t.test('4.2 List numbers: a cursor without `next` is the last page', async t => {
  const { server, connector } = await connect(t, ({ url }) =>
    url.startsWith('/100?') ? ok(NUMBER) : ok({ data: [{ id: '99' }], paging: { cursors: { after: 'A' } } })
  )
  t.match(await connector.verify(LINE), { kind: 'refused', code: 'credentials_rejected' })
  t.equal(server.requests.length, 2)
})

const REFUSALS: readonly (readonly [name: string, reaction: Reaction, result: object])[] = [
  ['token', error(401, 190), { kind: 'refused', code: 'credentials_rejected', detail: 'text ***' }],
  ['permission', error(403, 200), { kind: 'refused', code: 'credentials_rejected' }],
  ['invisible object', error(400, 100, 33), { kind: 'refused', code: 'credentials_rejected' }],
  ['invisible object, other code', error(404, 803), { kind: 'refused', code: 'credentials_rejected' }],
  ['bad field', error(400, 100), { kind: 'refused', code: 'provider_rejected' }],
  ['call limit', error(400, 80007), { kind: 'unavailable' }],
  ['fault', error(500, 1), { kind: 'unavailable' }],
  ['no error body', { status: 500, body: 'oops' }, { kind: 'unavailable' }],
  ['unparsable', { status: 200, body: 'oops' }, { kind: 'unavailable' }],
  ['reset', 'cut after body', { kind: 'unavailable' }]
]

t.test('1 errors on calls that are not sends', async t => {
  let reaction: Reaction = ok({})
  const { connector } = await connect(t, () => reaction)
  t.match(await connector.verify(LINE), { kind: 'refused', code: 'provider_rejected' }, 'a number without digits')
  for (const [name, next, result] of REFUSALS) {
    reaction = next
    t.match(await connector.verify(LINE), result, `verify: ${name}`)
    t.match(await connector.subscribe(LINE), result, `subscribe: ${name}`)
  }
  const away = createOfficialConnector({ baseUrl: await closedAddress(), timeoutMs: 1_000 })
  t.teardown(() => away.close())
  t.match(await away.verify(LINE), { kind: 'unavailable' })
})

t.test('5.1 Subscriptions', async t => {
  let success: unknown = true
  const { server, connector } = await connect(t, () => ok({ success }))
  t.same(await connector.subscribe(LINE), { kind: 'ok', value: null })
  t.match(server.requests[0], { method: 'POST', url: '/900/subscribed_apps', body: '' })
  success = false
  t.match(await connector.subscribe(LINE), { kind: 'refused', code: 'provider_rejected' })
})
