import t from 'tap'
import type { Reaction } from './recording-server.ts'
import { connect } from './unofficial-fixtures.ts'

const LID = '123456789012345@lid'

t.test('3 Hidden ids: the number behind one is asked of the session, and kept in mind', async t => {
  const { connector, line, server } = await connect(t, () => ({
    status: 200,
    body: { lid: LID, pn: '5511900000001@c.us' }
  }))
  t.equal(await connector.phoneOf(line, LID), '5511900000001')
  t.equal(await connector.phoneOf(line, LID), '5511900000001')
  t.match(server.requests, [{ method: 'GET', url: '/api/s1/lids/123456789012345%40lid' }])
  t.equal(server.requests.length, 1)
  await connector.phoneOf({ ...line, session: 's2' }, LID)
  t.equal(server.requests.length, 2, 'each session knows its own')
})

const UNKNOWN: readonly (readonly [string, Reaction])[] = [
  ['the session does not know it', { status: 200, body: { lid: LID, pn: null } }],
  ['another hidden id', { status: 200, body: { lid: LID, pn: '99@lid' } }],
  ['no number', { status: 200, body: { lid: LID, pn: 'x@c.us' } }],
  ['the engine has no such route', { status: 404, body: {} }],
  ['the engine needs a store', { status: 422, body: {} }],
  ['nonsense', { status: 200, body: 'nonsense' }],
  ['a broken connection', 'cut after body']
]
for (const [name, reaction] of UNKNOWN)
  t.test(`3 Hidden ids: ${name}`, async t => {
    const { connector, line, server } = await connect(t, () => reaction)
    t.equal(await connector.phoneOf(line, LID), null)
    const asked = server.requests.length
    t.equal(await connector.phoneOf(line, LID), null)
    t.equal(server.requests.length, asked, 'and is not asked with every message')
  })
