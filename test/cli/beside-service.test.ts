/** Commands beside a running service. */
import { existsSync, statSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { type Place, place } from './command-line.ts'

const LISTENS = /Ledgerline listens on (http:\S+)/
const serving = { PORT: '0', LOG_LEVEL: 'error' }

const here = place(t)
const service = await here.start(['serve'], LISTENS, serving)
const [, url = ''] = await service.says(LISTENS)
const statusFor = async (apiKey: string): Promise<number> => {
  const { status } = await fetch(`${url}/v1/channels`, { headers: { authorization: `Bearer ${apiKey}` } })
  return status
}
const create = async ({ run }: Place, tenant: string) =>
  JSON.parse((await run('keys', 'create', '--tenant', tenant, '--name', 'beside')).stdout)

/** The first line that the socket answers to these bytes; '' when it hangs up. */
const converse = (bytes: string | Buffer): Promise<string> =>
  new Promise(resolve => {
    let said = ''
    const socket = createConnection(join(here.dataDir, 'control.sock'), () => socket.write(bytes))
    socket.on('data', chunk => {
      said += chunk
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(said))
  })

t.test('a key that the service makes for the command line opens it at once, until it is revoked', async t => {
  const made = await create(here, 'acme')
  t.equal(await statusFor(made.apiKey), 200)
  t.equal((await create(here, 'acme')).tenantId, made.tenantId)
  t.match((await here.run('keys', 'list', '--tenant', 'acme')).stdout, made.keyId)
  t.match(await here.run('keys', 'revoke', made.keyId), { code: 0 })
  t.equal(await statusFor(made.apiKey), 401)
  t.match(await here.run('keys', 'revoke', made.keyId), { code: 1, stderr: /no live key/ })
})

t.test('the control socket is for its owner alone', async t => {
  t.equal(statSync(join(here.dataDir, 'control.sock')).mode & 0o777, 0o600)
})

t.test('whatever comes in through the control socket, the service goes on', async t => {
  const refused = (code: string): string => `${JSON.stringify({ ok: false, code })}\n`
  t.equal(await converse('not json\n'), refused('malformed_request'))
  t.equal(await converse('null\n'), refused('malformed_request'))
  t.equal(await converse('{"command":"keys create"}\n'), refused('malformed_request'))
  t.equal(
    await converse('{"command":"keys create","tenant":"a","key":{"name":"","x":1}}\n'),
    refused('malformed_request')
  )
  t.equal(await converse('{"command":"dance"}\n'), refused('unknown_command'))
  t.equal(await converse(Buffer.from([0xff, 0xfe, 0x0a])), refused('malformed_request'))
  t.equal(await converse('x'.repeat(100_000)), '')
  t.match(await create(here, 'after'), { tenantId: /^tn_/ })
})

t.test('reading goes on beside the service', async t => {
  t.match(await here.run('log', 'verify'), { code: 0, stdout: /^intact\n/ })
  t.match((await here.run('log', 'export', '--type', 'TenantCreated')).stdout, /"TenantCreated".*acme/)
  const { head, views } = JSON.parse((await here.run('views', 'status', '--json')).stdout)
  t.ok(head > 0)
  for (const view of views) t.equal(view.state, 'up to date', view.name)
})

t.test('what would disturb it is refused, with the reason', async t => {
  t.match(await here.run('views', 'rebuild'), {
    code: 1,
    stdout: '',
    stderr: /another process is using the data directory/
  })
  t.match(await here.run('serve'), { code: 1, stderr: /^ledgerline cannot start: another process is using/ })
  t.match(await create(here, 'still there'), { tenantId: /^tn_/ })
})

t.test('an orderly stop takes the socket away, and keys are made without it', async t => {
  const { tenantId } = await create(here, 'acme')
  t.match(await service.stop(), { code: 0 })
  t.notOk(existsSync(join(here.dataDir, 'control.sock')))
  t.equal((await create(here, 'acme')).tenantId, tenantId)
})

t.test('a service that was killed leaves nothing in the way', async t => {
  const killed = await here.start(['serve'], LISTENS, serving)
  await killed.stop('SIGKILL')
  t.ok(existsSync(join(here.dataDir, 'control.sock')), 'the socket is left behind')
  t.match(await create(here, 'acme'), { tenantId: /^tn_/ })
  const next = await here.start(['serve'], LISTENS, serving)
  t.match(await create(here, 'acme'), { tenantId: /^tn_/ })
  t.match(await next.stop(), { code: 0 })
})
