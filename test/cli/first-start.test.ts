/** What a newcomer does: start, copy the lines of the banner, see the message read and its webhooks arrive. */
import { execFile } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { place } from './command-line.ts'

const shell = promisify(execFile)
const hasCurl = await shell('curl', ['--version']).then(
  () => true,
  () => false
)
const READ_WITHIN_MS = 30_000
const STEP_MS = 100

t.test('the lines of the banner lead to read, and to webhooks', { skip: hasCurl ? false : 'needs curl' }, async t => {
  const here = place(t)
  const receiver = await here.start(['receive', '--port', '0'], /Waiting for webhooks on (\S+) /)
  const [, hook = ''] = await receiver.says(/Waiting for webhooks on (\S+) /)
  const environment = { PORT: '0', LOG_LEVEL: 'error' }
  const service = await here.start(['serve'], /npx ledgerline receive .*\n/, environment)
  const [send = '', track = '', destination = ''] = service.said().match(/^ {2}(?:id=\$\()?curl .*$/gm) ?? []
  t.match(destination, 'http://127.0.0.1:4000/')
  const made = await shell('sh', ['-c', destination.replace('http://127.0.0.1:4000/', `${hook}/`)])
  t.match(JSON.parse(made.stdout), { url: `${hook}/`, secret: /^whsec_/ })

  const id = (await shell('sh', ['-c', send])).stdout.trim()
  t.match(id, /^msg_[a-z0-9]{26}$/)
  const giveUpAt = Date.now() + READ_WITHIN_MS
  let tracked = { state: '' }
  while (tracked.state !== 'read' && Date.now() < giveUpAt) {
    await wait(STEP_MS)
    tracked = JSON.parse((await shell('sh', ['-c', `id=${id}; ${track}`])).stdout)
  }
  t.equal(tracked.state, 'read')
  await receiver.says(/ message\.sent {2}signature not checked /)
  await receiver.says(/"status": "read"/)
  t.match(await service.stop(), { code: 0 })
  t.match(await receiver.stop(), { code: 0 })
})

t.test('the second start shows no key, but how to get one', async t => {
  const here = place(t)
  const environment = { PORT: '0', LOG_LEVEL: 'error' }
  await (await here.start(['serve'], /API key \(shown once\): llk_/, environment)).stop()
  const second = await here.start(['serve'], /npx ledgerline keys create --tenant demo\n/, environment)
  t.notMatch(second.said(), /llk_/)
  t.match(await second.stop(), { code: 0 })
})
