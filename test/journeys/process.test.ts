/** The service as a process: it stops in an orderly way, goes on where it was, and shares its folder with nobody. */
import { join } from 'node:path'
import t from 'tap'
import { runCommand } from '../support/service-process.ts'
import { storyOf } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, { official: { delaysMs: { sent: 20, delivered: 400, read: 800 } } })
const { official, service } = world
const tenant = await world.tenant('acme')
const channel = await tenant.officialNumber(official)
const hooks = await tenant.receiver(t)

t.test('SIGTERM ends it with 0, and what was under way goes on after the next start', async t => {
  await official.fault('slow', { ms: 300, times: 0 })
  const sent = await Promise.all(Array.from({ length: 20 }, () => tenant.send(channel.id)))
  t.equal(await service.stop(), 0)
  await official.clearFaults()
  await service.start()
  for (const { messageId, idempotencyKey } of sent) {
    await tenant.reaches(messageId, 'read')
    t.equal(await official.timesAccepted(messageId), 1, 'sent once')
    t.match(await tenant.send(channel.id, { key: idempotencyKey }), { messageId, idempotent: true })
    const { attempts } = await tenant.track(messageId)
    t.equal(attempts, 1)
  }
  for (const { messageId } of sent) {
    const expected = storyOf(await tenant.track(messageId))
    t.ok(expected.includes('sent') && expected.includes('read'))
    t.same([...(await hooks.told(messageId, expected.length))].sort(), [...expected].sort(), 'every event, each once')
  }
  t.notMatch(service.output(), /"level":(50|60)/, 'nothing went wrong on the way')
})

t.test('a second process on the same DATA_DIR is refused with a clear message, and harms nobody', async t => {
  const second = await runCommand(['serve'], { ...world.env, PORT: '0' }, world.home)
  t.equal(second.code, 1)
  t.equal(second.stderr, `ledgerline cannot start: another process is using the data directory ${world.dataDir}\n`)
  const { messageId } = await tenant.send(channel.id)
  await tenant.reaches(messageId, 'read')
})

t.test('settings that are wrong stop the start with a line for each', async t => {
  const wrong = { ...world.env, DATA_DIR: join(world.home, 'other'), PORT: 'eighty', RATE_LIMIT_PER_MINUTE: '-1' }
  const refused = await runCommand(['serve'], wrong, world.home)
  t.equal(refused.code, 2)
  t.match(refused.stderr, /PORT.*eighty/)
  t.match(refused.stderr, /RATE_LIMIT_PER_MINUTE.*-1/)
})

t.test('a log whose master key is missing is not opened with another', async t => {
  t.equal(await service.stop(), 0)
  const other = Buffer.alloc(32, 7).toString('base64')
  const refused = await runCommand(['serve'], { ...world.env, MASTER_KEY: other }, world.home)
  t.equal(refused.code, 1)
  t.match(refused.stderr, /MASTER_KEY does not open/)
  t.notMatch(refused.stderr, other)
})
