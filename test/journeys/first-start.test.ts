/** The first start with nothing set: follow what it prints. */
import { execFile } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/http.ts'
import { temporaryDirectory } from '../support/log.ts'
import { serviceProcess } from '../support/service-process.ts'

const run = promisify(execFile)
const curl = await run('curl', ['--version']).then(
  () => true,
  () => false
)

t.test('the two printed lines send a message and track it to read', { skip: curl ? false : 'no curl' }, async t => {
  const cwd = temporaryDirectory(t)
  const port = await freePort()
  const env = { PORT: String(port), INSTANCE_API_PORT: '0', OPS_PORT: '0' }
  const service = serviceProcess(t, { url: `http://127.0.0.1:${port}`, env, cwd })
  await service.start()
  const banner = service.output()
  t.match(banner, /SANDBOX: both platforms are simulated/)
  const [key] = /llk_[A-Za-z0-9_-]{43}/.exec(banner) ?? []
  t.ok(key, 'the key is shown')
  const [, told = ''] = banner.split('Send a message, then track it to read:')
  const [send = '', track = ''] = told.split('\n').filter(line => line.trim() !== '')
  const messageId = (await run('sh', ['-c', send])).stdout.trim()
  t.match(messageId, /^msg_[0-9a-z]{26}$/)
  const tracked = async (): Promise<{ id: string; state: string }> =>
    JSON.parse((await run('sh', ['-c', `id=${messageId}; ${track}`])).stdout)
  const read = await eventually('read', async () => {
    const message = await tracked()
    return message.state === 'read' && message
  })
  t.equal(read.id, messageId)
  t.equal(statSync(join(cwd, 'data', 'master.key')).mode & 0o777, 0o600, 'the master key is for its owner alone')

  t.equal(await service.stop(), 0)
  t.notOk(existsSync(join(cwd, 'data', 'control.sock')))
  await service.start()
  const again = service.output().slice(banner.length)
  t.notMatch(again, key ?? 'llk_', 'the key was shown once')
  t.equal((await tracked()).state, 'read', 'what was sent before the restart is still known')
})
