/** Every command of the command line on a log in EventStoreDB: alone, beside a running service, and when nothing is there. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { doubleFor } from '../support/eventstore/logs.ts'
import { place } from './command-line.ts'

const LISTENS = /Ledgerline listens on (http:\S+)/
t.setTimeout(180_000)
const double = await doubleFor(t)
const log = { EVENTSTORE_URL: double.url, EVENTSTORE_STREAM_PREFIX: 'here-' }
const node = place(t, {
  ...log,
  SINGLE_NODE: 'true',
  MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  ANCHOR_FILE: 'anchors.ndjson',
  PORT: '0',
  LOG_LEVEL: 'error'
})
/** Of somebody who may read the log and has neither its keys nor a DATA_DIR. */
const auditor = place(t, log)

t.test('where there is no log every reading command says so, and begins none', async t => {
  const commands = [
    ['log', 'verify'],
    ['log', 'export'],
    ['views', 'status'],
    ['keys', 'list', '--tenant', 'acme']
  ]
  for (const words of [...commands, ['views', 'rebuild']])
    t.match(await auditor.run(...words), { code: 1, stdout: '', stderr: /holds no event log behind this EVENTSTORE_/ })
  t.notOk(double.records.log.some(({ stream }) => stream.includes('here-')))
})

t.test('keys are made, listed and revoked without a service', async t => {
  const made = JSON.parse((await node.run('keys', 'create', '--tenant', 'acme')).stdout)
  t.match(made, { tenantId: /^tn_/, apiKey: /^llk_/ })
  const second = JSON.parse((await node.run('keys', 'create', '--tenant', 'acme', '--name', 'second')).stdout)
  t.equal(second.tenantId, made.tenantId)
  t.match(await node.run('keys', 'revoke', made.keyId), { code: 0, stdout: `${made.keyId} is revoked\n` })
  t.match(await node.run('keys', 'revoke', made.keyId), { code: 1, stderr: /no live key/ })
  const { items } = JSON.parse((await auditor.run('keys', 'list', '--tenant', 'acme', '--json')).stdout)
  t.match(items, [{ id: second.keyId, name: 'second' }])
  t.equal(items.length, 1)
})

t.test('beside a service: keys open it at once, views and log are read, and it signs', async t => {
  const service = await node.start(['serve'], LISTENS)
  const [, url = ''] = await service.says(LISTENS)
  const { apiKey } = JSON.parse((await node.run('keys', 'create', '--tenant', 'beside')).stdout)
  t.equal((await fetch(`${url}/v1/channels`, { headers: { authorization: `Bearer ${apiKey}` } })).status, 200)
  t.match(await auditor.run('log', 'verify'), { code: 0, stdout: /^intact\n/ })
  const { head, views } = JSON.parse((await node.run('views', 'status', '--json')).stdout)
  for (const view of views) t.match(view, { position: head, state: 'up to date' })
  t.match(await node.run('views', 'rebuild'), { code: 1, stderr: /another process is using the data directory/ })
  t.match(await service.stop(), { code: 0, stdout: /\{"anchor":\{"from":1,/ })
  t.ok(existsSync(join(node.folder, 'anchors.ndjson')))
})

t.test('views are rebuilt from it, and tell how far they are', async t => {
  const rebuilt = JSON.parse((await node.run('views', 'rebuild', '--json')).stdout)
  t.ok(rebuilt.events > 0)
  const { head, views } = JSON.parse((await node.run('views', 'status', '--json')).stdout)
  t.equal(head, rebuilt.position)
  for (const view of views) t.match(view, { position: head, state: 'up to date' })
  t.match((await auditor.run('views', 'status')).stdout, /missing; filled at the next start/)
})

t.test('it is proved whole with its anchors, exported, and proved again elsewhere', async t => {
  const report = JSON.parse((await node.run('log', 'verify', '--json')).stdout)
  t.match(report, { ok: true, unanchored: null, publicKeys: [/^MCow/], faults: [] })
  const { stdout } = await auditor.run('log', 'export')
  t.notMatch(stdout, /keys-|here-/, 'neither keys nor the prefix')
  const file = join(auditor.folder, 'log.ndjson')
  writeFileSync(file, stdout)
  const anchors = join(node.folder, 'anchors.ndjson')
  const offline = await auditor.run('log', 'verify', '--export', file, '--anchors', anchors, '--json')
  t.match(JSON.parse(offline.stdout), { ok: true, anchoredTo: report.anchoredTo })
  t.equal(JSON.parse(offline.stdout).events, stdout.trimEnd().split('\n').length)
})

t.test('an event that was altered in the server is named', async t => {
  const record = double.records.log.findLast(({ type }) => type === 'ApiKeyCreated')
  const text = Buffer.from(record?.data ?? []).toString()
  record?.data.set(Buffer.from(text.replace('"name":"command line"', '"name":"commend line"')))
  const { code, stdout } = await auditor.run('log', 'verify')
  t.equal(code, 1)
  t.match(stdout, /^NOT intact: 1 fault\n {2}altered: position \d+, tenant-tn_\w+, revision \d+, evt_\w+, /)
  const stream = record?.stream.slice('here-'.length) ?? ''
  t.match(await auditor.run('log', 'verify', '--stream', stream), { code: 1, stdout: /altered/ })
})

t.test('a server that is away is said, and is no fault of the log', async t => {
  await double.refuse()
  const away = { code: 1, stdout: '', stderr: /EventStoreDB at 127\.0\.0\.1:\d+ cannot be reached/ }
  t.match(await auditor.run('log', 'verify'), away)
  t.match(await auditor.run('keys', 'list', '--tenant', 'acme'), away)
})
