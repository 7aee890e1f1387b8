/** Keys while no service runs. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lockDataDir } from '../../src/log/sqlite/lock.ts'
import { place } from './command-line.ts'

const { run, dataDir } = place(t)
const create = async (...more: string[]) => JSON.parse((await run('keys', 'create', ...more)).stdout)
const list = async (tenant: string) => JSON.parse((await run('keys', 'list', '--tenant', tenant, '--json')).stdout)

t.test('one tenant a name: a second key joins it', async t => {
  const first = await create('--tenant', 'acme')
  t.match(first, { tenantId: /^tn_/, keyId: /^key_/, apiKey: /^llk_[\w-]{43}$/ })
  t.same(Object.keys(first), ['tenantId', 'keyId', 'apiKey'])
  const second = await create(
    '--tenant',
    ' acme ',
    '--name',
    'checkout',
    '--permissions',
    'messages:send,messages:read'
  )
  t.equal(second.tenantId, first.tenantId)
  t.not(second.apiKey, first.apiKey)
  const other = await create('--tenant', 'other', '--permissions', 'all', '--expires', '90d')
  t.not(other.tenantId, first.tenantId)

  const acme = await list('acme')
  t.equal(acme.tenantId, first.tenantId)
  t.match(acme.items, [
    { id: first.keyId, name: 'command line', expiresAt: null, lastFour: first.apiKey.slice(-4) },
    { id: second.keyId, name: 'checkout', permissions: ['messages:send', 'messages:read'] }
  ])
  t.notOk(acme.items[0].permissions.includes('keys:write'), 'a key may not make keys unless told so')
  const [item] = (await list('other')).items
  t.ok(item.permissions.includes('keys:write'))
  const days = (Date.parse(item.expiresAt) - Date.parse(item.createdAt)) / 86_400_000
  t.ok(Math.abs(days - 90) < 0.01)
  t.notMatch(JSON.stringify(acme), first.apiKey)
  t.equal(statSync(join(dataDir, 'master.key')).mode & 0o777, 0o600)
})

t.test('a revoked key is gone, once', async t => {
  const { keyId } = await create('--tenant', 'acme', '--name', 'short')
  const table = (await run('keys', 'list', '--tenant', 'acme')).stdout
  t.match(table, /^ID +NAME +KEY +CREATED +EXPIRES +PERMISSIONS\n/)
  t.match(table, keyId)
  t.match(await run('keys', 'revoke', keyId), { code: 0, stdout: `${keyId} is revoked\n` })
  t.notMatch((await run('keys', 'list', '--tenant', 'acme')).stdout, keyId)
  t.match(await run('keys', 'revoke', keyId), { code: 1, stdout: '', stderr: /no live key/ })
})

t.test('an unknown tenant has no keys', async t => {
  t.match(await run('keys', 'list', '--tenant', 'nobody'), { code: 1, stderr: /no tenant nobody/ })
})

t.test('another owner of the DATA_DIR that cannot be asked is not disturbed', async t => {
  const lock = lockDataDir(dataDir)
  t.teardown(() => lock.release())
  t.match(await run('keys', 'create', '--tenant', 'acme'), { code: 1, stdout: '', stderr: /another process is using/ })
  t.match(await run('views', 'rebuild'), { code: 1, stdout: '', stderr: /another process is using/ })
  t.match(await run('keys', 'list', '--tenant', 'acme'), { code: 0 }, 'reading goes on')
})
