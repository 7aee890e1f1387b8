/** What lets a stopped queue go on: release of a quarantine and of a limit, and better credentials. */
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { ACCESS_TOKEN } from '../support/platforms.ts'
import type { Channel } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

type Shown = Channel & { quarantine: { active: boolean }; lastError: string | null }
type Audit = { items: { kind: string; reason: string | null }[] }

const world = await startWorld(t, { settings: { QUARANTINE_HOURS: '1', BREAKER_FAILURES: '3' } })
const { official } = world
const tenant = await world.tenant('acme')
const stranger = await world.tenant('others')

const release = (id: string, flag: 'limited' | 'quarantine', body?: object, asker = tenant) =>
  asker.ask<Shown>('POST', `/v1/channels/${id}/${flag}/release`, body)
const rotate = (id: string, body: object, asker = tenant) =>
  asker.ask<Shown>('POST', `/v1/channels/${id}/credentials`, body)
const refusal = (status: number, code: string) => ({ status, body: { error: { code } } })
const kinds = async (id: string) =>
  (await tenant.ask<Audit>('GET', `/v1/channels/${id}/events`)).body.items.map(({ kind }) => kind)

t.test('a quarantine is released early, with a reason or without a body', async t => {
  for (const body of [undefined, { reason: 'checked by hand' }]) {
    const channel = await tenant.officialNumber(official)
    t.match(await tenant.trySend(channel.id), refusal(409, 'channel_quarantined'))
    t.match(await release(channel.id, 'quarantine', body, stranger), refusal(404, 'channel_not_found'))
    t.match(await release(channel.id, 'quarantine', body), { status: 200, body: { quarantine: { active: false } } })
    t.match(await release(channel.id, 'quarantine', body), { status: 200 }, 'once more changes nothing')
    await tenant.reaches((await tenant.send(channel.id)).messageId, 'sent')
    t.same(await kinds(channel.id), ['flag', 'state'])
  }
})

t.test('a limited number is released by whoever takes the risk, and a new window begins', async t => {
  const channel = await tenant.officialNumber(official)
  await release(channel.id, 'quarantine')
  t.match(await release(channel.id, 'limited', { riskAcceptance: { termsVersion: 'limited-release-v1' } }), {
    status: 200,
    body: { limited: { active: false } }
  })
  await official.fault('refuse', { match: { phoneNumberId: channel.phoneNumberId }, code: 131051, times: 3 })
  for (let n = 0; n < 3; n++) await tenant.reaches((await tenant.send(channel.id)).messageId, 'failed')
  await eventually('the limit', async () => (await tenant.channel(channel.id)).limited.active)
  for (const body of [{}, { riskAcceptance: { termsVersion: 'limited-release-v0' } }])
    t.match(await release(channel.id, 'limited', body), refusal(422, 'risk_acceptance_required'))
  const terms = { riskAcceptance: { termsVersion: 'limited-release-v1' } }
  t.match(await release(channel.id, 'limited', terms, stranger), refusal(404, 'channel_not_found'))
  t.match(await tenant.trySend(channel.id), refusal(409, 'channel_limited'))
  t.match(await release(channel.id, 'limited', terms), { status: 200, body: { limited: { active: false } } })
  await official.fault('refuse', { match: { phoneNumberId: channel.phoneNumberId }, code: 131051, times: 2 })
  for (let n = 0; n < 2; n++) await tenant.reaches((await tenant.send(channel.id)).messageId, 'failed')
  await tenant.reaches((await tenant.send(channel.id)).messageId, 'sent')
  t.equal((await tenant.channel(channel.id)).limited.active, false, 'failures before the release do not count')
})

t.test('credentials: what waits for better ones goes on when they are there', async t => {
  const channel = await tenant.officialNumber(official)
  await release(channel.id, 'quarantine')
  const token = (state: string, name = ACCESS_TOKEN) =>
    official.control('POST', 'tokens', { token: name, wabas: 'all', state })
  await token('revoked')
  t.teardown(() => token('valid'))
  const waiting = await tenant.send(channel.id)
  await eventually('the trouble', async () => ((await tenant.channel(channel.id)) as Shown).lastError !== null)
  t.match(await rotate(channel.id, { accessToken: ACCESS_TOKEN }), refusal(422, 'credentials_rejected'))
  await token('valid', 'EAABbetter')
  t.match(await rotate(channel.id, { accessToken: 'EAABbetter' }, stranger), refusal(404, 'channel_not_found'))
  const rotated = await rotate(channel.id, { accessToken: 'EAABbetter' })
  t.match(rotated, { status: 200, body: { id: channel.id, lastError: null } })
  t.notOk(JSON.stringify(rotated.body).includes('EAABbetter'), 'credentials are never shown')
  t.match(await tenant.reaches(waiting.messageId, 'sent'), { attempts: 1 })
  t.ok((await kinds(channel.id)).includes('credentials'))
})

t.test('credentials: an unofficial number has none', async t => {
  const channel = await tenant.unofficialNumber(world.unofficial, '5511977770001')
  t.match(await rotate(channel.id, { accessToken: 'x' }), refusal(422, 'unsupported_capability'))
})
