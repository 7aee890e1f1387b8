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
  // The paths in the printed lines are those of a shared folder; a test keeps to its own.
  const env = { PORT: String(port), INSTANCE_API_PORT: '0', OPS_PORT: '0' }
  const service = serviceProcess(t, { url: `http://127.0.0.1:${port}`, env, cwd })
  await service.start()
  const banner = service.output()
  t.match(banner, /SANDBOX: both platforms are simulated/)
  const [key] = /llk_[A-Za-z0-9_-]{43}/.exec(banner) ?? []
  t.ok(key, 'the key is shown')
  const lines = banner
    .split('\n')
    .filter(line => line.startsWith('  curl '))
    .map(line => line.replaceAll('/tmp/', `${cwd}/`))
  t.equal(lines.length, 2)
  const [send = '', track = ''] = lines
  const sent = JSON.parse((await run('sh', ['-c', send])).stdout) as { state: string; messageId: string }
  t.equal(sent.state, 'queued')
  const read = await eventually('read', async () => {
    const tracked = JSON.parse((await run('sh', ['-c', track])).stdout) as { id: string; state: string }
    return tracked.state === 'read' && tracked
  })
  t.equal(read.id, sent.messageId)
  t.equal(statSync(join(cwd, 'data', 'master.key')).mode & 0o777, 0o600, 'the master key is for its owner alone')

  t.equal(await service.stop(), 0)
  t.notOk(existsSync(join(cwd, 'data', 'control.sock')))
  await service.start()
  const again = service.output().slice(banner.length)
  t.notMatch(again, key ?? 'llk_', 'the key was shown once')
  const tracked = JSON.parse((await run('sh', ['-c', track])).stdout) as { state: string }
  t.equal(tracked.state, 'read', 'what was sent before the restart is still known')
})
