import t, { type Test } from 'tap'
import type { Engine, UnofficialLine } from '../../src/connectors/port.ts'
import { createUnofficialConnector } from '../../src/connectors/unofficial/connector.ts'
import { closedAddress, type Reaction, type Recorded, startRecordingServer } from './recording-server.ts'

const SETUP = {
  callbackUrl: 'https://svc.example.com/webhooks/unofficial/cxn_01h',
  callbackKey: 'secret',
  reference: 'cxn_01h'
}
const SESSION = {
  name: 's1',
  status: 'WORKING',
  config: {},
  me: { id: '5511900000000@c.us', lid: '123456789012345@lid' },
  engine: { engine: 'NOWEB' }
}

async function connect(t: Test, react: (request: Recorded) => Reaction) {
  const server = await startRecordingServer(react)
  const connector = createUnofficialConnector({ timeoutMs: 5_000 })
  t.teardown(async () => {
    await server.close()
    await connector.close()
  })
  const line: UnofficialLine = {
    kind: 'unofficial',
    baseUrl: server.baseUrl,
    apiKey: 'key',
    session: 's 1',
    engine: 'noweb'
  }
  const asked = () => server.requests.map(({ method, url }) => `${method} ${url}`)
  return { server, connector, line, asked }
}

t.test('1 Probe', async t => {
  let reaction: Reaction = { status: 200, body: {} }
  const { server, connector, line } = await connect(t, () => reaction)
  const engines: { [name: string]: Engine } = { WEBJS: 'webjs', WPP: 'webjs', NOWEB: 'noweb', GOWS: 'gows' }
  for (const [name, engine] of Object.entries(engines)) {
    reaction = { status: 200, body: { version: '2026.7.1', engine: name, tier: 'CORE' } }
    t.same(await connector.probe(line), { kind: 'ok', value: { engine, version: '2026.7.1' } })
  }
  t.match(server.requests[0], { method: 'GET', url: '/api/server/version', headers: { 'x-api-key': 'key' } })
  reaction = { status: 200, body: { engine: 'OTHER' } }
  t.match(await connector.probe(line), { kind: 'refused', code: 'provider_rejected' })
  reaction = { status: 401, body: { message: 'Unauthorized' } }
  t.match(await connector.probe(line), { kind: 'refused', code: 'credentials_rejected' })
  reaction = { status: 503, body: '' }
  t.match(await connector.probe(line), { kind: 'unavailable' })
  t.match(await connector.probe({ baseUrl: await closedAddress(), apiKey: null }), {
    kind: 'unavailable',
    detail: 'ECONNREFUSED'
  })
  t.match(await connector.probe({ baseUrl: 'nowhere', apiKey: null }), {
    kind: 'refused',
    code: 'credentials_rejected'
  })
})

t.test('2 Sessions: create and start', async t => {
  const { server, connector, line } = await connect(t, () => ({
    status: 201,
    body: { ...SESSION, status: 'STARTING', me: null }
  }))
  t.same(await connector.start(line, SETUP), {
    kind: 'ok',
    value: { status: 'starting', number: null, restriction: null }
  })
  const config = {
    metadata: { ref: 'cxn_01h' },
    webhooks: [
      {
        url: SETUP.callbackUrl,
        events: [
          'session.status',
          'message.any',
          'message.ack',
          'message.reaction',
          'message.revoked',
          'message.edited'
        ],
        hmac: { key: 'secret' },
        retries: { policy: 'exponential', delaySeconds: 2, attempts: 15 }
      }
    ],
    ignore: { status: true, groups: true, channels: true, broadcast: true }
  }
  const engines = {
    noweb: { store: { enabled: true } },
    gows: { storage: { messages: true } },
    webjs: { tagsEventsOn: true }
  } as const
  for (const [engine, own] of Object.entries(engines)) {
    await connector.start({ ...line, engine: engine as Engine }, SETUP)
    const body = JSON.parse(server.requests.at(-1)?.body ?? '')
    t.match(body, { name: 's 1', start: true, config: { ...config, [engine]: own } }, engine)
  }
  t.equal(server.requests.length, 4)
})

t.test('2 Sessions: starting one that exists', async t => {
  let start: Reaction = { status: 201, body: SESSION }
  const exists: Reaction = { status: 422, body: { message: "Session 's1' already exists. Use PUT to update it." } }
  const { connector, line, asked } = await connect(t, ({ url }) => (url.endsWith('/start') ? start : exists))
  t.match(await connector.start(line, SETUP), { kind: 'ok', value: { status: 'working', number: '5511900000000' } })
  t.same(asked(), ['POST /api/sessions', 'POST /api/sessions/s%201/start'])
  start = { status: 404, body: { message: 'Session not found' } }
  t.match(await connector.start(line, SETUP), { kind: 'refused', code: 'provider_rejected' }, '422 for another reason')
})

t.test('2 Sessions: look', async t => {
  let reaction: Reaction = { status: 200, body: SESSION }
  const { connector, line, asked } = await connect(t, () => reaction)
  t.same(await connector.look(line), {
    kind: 'ok',
    value: { status: 'working', number: '5511900000000', restriction: null }
  })
  t.same(asked(), ['GET /api/sessions/s%201'])
  const timelock = { isActive: true, enforcementType: 'DEFAULT', timeEnforcementEnds: 1769904000 }
  const until = '2026-02-01T00:00:00.000Z'
  reaction = { status: 200, body: { ...SESSION, me: { ...SESSION.me, reachoutTimelock: timelock } } }
  t.match(await connector.look(line), { value: { restriction: { active: true, until } } })
  reaction = { status: 200, body: { ...SESSION, restriction: { active: true, until, enforcementType: 'X' } } }
  t.match(await connector.look(line), { value: { restriction: { active: true, until } } })
  reaction = { status: 404, body: { message: 'Session not found' } }
  t.same(await connector.look(line), { kind: 'ok', value: { status: 'missing', number: null, restriction: null } })
  reaction = { status: 200, body: { status: 'DANCING' } }
  t.match(await connector.look(line), { kind: 'unavailable' })
  reaction = 'cut after body'
  t.match(await connector.look(line), { kind: 'unavailable' })
})

t.test('2.2 QR', async t => {
  let reaction: Reaction = { status: 200, body: { value: '2@AbC,XyZ' } }
  const { connector, line, asked } = await connect(t, () => reaction)
  t.same(await connector.qr(line), { kind: 'ok', value: '2@AbC,XyZ' })
  t.same(asked(), ['GET /api/s%201/auth/qr?format=raw'])
  for (const status of [404, 422]) {
    reaction = { status, body: {} }
    t.same(await connector.qr(line), { kind: 'ok', value: null })
  }
  reaction = { status: 403, body: {} }
  t.match(await connector.qr(line), { kind: 'refused', code: 'credentials_rejected' })
})

t.test('2 Sessions: restart, stop, erase', async t => {
  let reaction: Reaction = { status: 201, body: SESSION }
  const { connector, line, asked } = await connect(t, () => reaction)
  const all = async () => [await connector.restart(line), await connector.stop(line), await connector.erase(line)]
  const done = { kind: 'ok', value: null }
  t.same(await all(), [done, done, done])
  t.same(asked(), ['POST /api/sessions/s%201/restart', 'POST /api/sessions/s%201/stop', 'DELETE /api/sessions/s%201'])
  reaction = { status: 404, body: { message: 'Session not found' } }
  t.match(
    await all(),
    [{ kind: 'refused', code: 'provider_rejected' }, done, done],
    'what is gone is stopped and erased'
  )
  reaction = { status: 500, body: {} }
  t.match(await all(), [{ kind: 'unavailable' }, { kind: 'unavailable' }, { kind: 'unavailable' }])
})
