/** Starting and stopping: what is wrong with EventStoreDB is said in one sentence. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { EventStoreLogOptions } from '../../src/log/eventstore/home.ts'
import { openEventStoreLog } from '../../src/log/eventstore/home.ts'
import { EventStoreStartError } from '../../src/log/eventstore/start-error.ts'
import { NO_STREAM } from '../../src/log/port.ts'
import { certificate, privateKey } from '../support/eventstore/certificate.ts'
import { doubleFor, logOn } from '../support/eventstore/logs.ts'
import { all, event, temporaryDirectory } from '../support/log.ts'

const tls = { key: Buffer.from(privateKey), cert: Buffer.from(certificate) }
const startMs = 300

/** What opening ends with when it does not succeed. */
const problemOf = (options: EventStoreLogOptions): Promise<unknown> =>
  openEventStoreLog(options).then(
    log => log.close().then(() => 'none'),
    (error: unknown) => (error instanceof EventStoreStartError ? error.problem : error)
  )

t.test('a server that is not there', async t => {
  const double = await doubleFor(t)
  await double.refuse()
  await t.rejects(openEventStoreLog({ url: double.url, startMs }), {
    name: 'EventStoreStartError',
    problem: 'unreachable',
    message: `EventStoreDB at 127.0.0.1:${double.port} cannot be reached (unavailable)`
  })
})

t.test('a server that does not answer', async t => {
  const double = await doubleFor(t)
  double.faults.next('read', { kind: 'hang' }, 10)
  t.equal(await problemOf({ url: double.url, startMs, deadlineMs: 200 }), 'unreachable')
})

t.test('a connection string that is none, and a prefix that is the server’s', async t => {
  t.equal(await problemOf({ url: 'postgres://secret:word@host' }), 'settings')
  t.equal(await problemOf({ url: 'esdb://a:b@host?tls=perhaps' }), 'settings')
  t.equal(await problemOf({ url: 'esdb://host?tls=false', streamPrefix: '$ours' }), 'settings')
})

t.test('a certificate that is not trusted, and one that cannot be read', async t => {
  const double = await doubleFor(t, { tls })
  t.equal(await problemOf({ url: double.url, startMs }), 'certificate')
  t.equal(await problemOf({ url: `${double.url}&tlsCAFile=/nowhere/ca.pem` }), 'certificate')
})

t.test('over TLS with the right credentials, with wrong ones, and with none', async t => {
  const double = await doubleFor(t, { tls, credentials: 'admin:s3cret' })
  const file = join(temporaryDirectory(t), 'ca.pem')
  writeFileSync(file, certificate)
  const address = `127.0.0.1:${double.port}?tlsCAFile=${encodeURIComponent(file)}`
  const log = await openEventStoreLog({ url: `esdb://admin:s3cret@${address}` })
  t.teardown(() => log.close())
  t.match(await log.append('s', NO_STREAM, [event('a')]), { kind: 'appended' })
  for (const user of ['admin:wrong@', '']) {
    const message = `EventStoreDB at 127.0.0.1:${double.port} refuses the credentials of EVENTSTORE_URL`
    await t.rejects(openEventStoreLog({ url: `esdb://${user}${address}`, startMs }), {
      problem: 'credentials',
      message
    })
  }
})

t.test('discovery through gossip finds the leader', async t => {
  const double = await doubleFor(t)
  const log = await logOn(t, double, { url: `esdb+discover://127.0.0.1:${double.port}?tls=false` })
  t.match(await log.append('s', NO_STREAM, [event('a')]), { kind: 'appended' })
  await double.drop()
  t.match(await log.append('s', 0, [event('b')]), { kind: 'appended', revision: 1 })
  t.equal((await all(log.read('s'))).length, 2)
})

t.test('the id of the log is made once, and is another behind another prefix', async t => {
  const double = await doubleFor(t)
  const logs = await Promise.all([logOn(t, double), logOn(t, double), logOn(t, double, { streamPrefix: 'x-' })])
  t.equal(logs[0].id, logs[1].id)
  t.not(logs[0].id, logs[2].id)
  t.equal((await logOn(t, double)).id, logs[0].id)
  t.equal(await logs[0].head(), 0, 'it is no event of the log')
})

t.test('a process that has closed its log ends', async t => {
  const double = await doubleFor(t)
  const path = fileURLToPath(new URL('../support/eventstore/exit-child.js', import.meta.url))
  const child = spawn(process.execPath, [path, double.url], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  t.match(String((await once(child.stdout, 'data'))[0]), /closed/)
  const killing = setTimeout(() => child.kill('SIGKILL'), 10_000)
  const [code] = await ended
  clearTimeout(killing)
  t.equal(code, 0)
})

t.test('the double runs as a process of its own', async t => {
  const path = fileURLToPath(new URL('../support/eventstore/server.js', import.meta.url))
  const child = spawn(process.execPath, [path, '--port', '0'], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  const [, port] = /listening (\d+)/.exec(String((await once(child.stdout, 'data'))[0])) ?? []
  const log = await openEventStoreLog({ url: `esdb://127.0.0.1:${port}?tls=false` })
  t.teardown(() => log.close())
  t.match(await log.append('s', NO_STREAM, [event('a')]), { kind: 'appended' })
  child.stdin.write('drop\n')
  t.match(String((await once(child.stdout, 'data'))[0]), /done drop/)
  t.match(await log.append('s', 0, [event('b')]), { kind: 'appended' })
})
