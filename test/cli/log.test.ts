/** The log from outside: proved, exported, and proved again elsewhere. */
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { place } from './command-line.ts'

const { run, folder } = place(t, { ANCHOR_FILE: 'anchors.ndjson' })
await run('keys', 'create', '--tenant', 'acme')
await run('keys', 'create', '--tenant', 'acme', '--name', 'second')

t.test('an untouched log is intact', async t => {
  const { code, stdout } = await run('log', 'verify')
  t.equal(code, 0)
  t.match(stdout, /^intact\nevents checked +\d+ in \d+ streams\nanchored to +position \d+\n/)
  const report = JSON.parse((await run('log', 'verify', '--json')).stdout)
  t.match(report, { ok: true, faults: [], publicKeys: [/^MCowBQYDK2VwAyEA/] })
  t.match(await run('log', 'verify', '--public-key', report.publicKeys[0]), { code: 0 })
  t.match(await run('log', 'verify', '--stream', 'anchors'), { code: 0 })
  t.match(await run('log', 'verify', '--stream', 'tenant-nobody'), { code: 1, stdout: /no such stream/ })
})

t.test('an altered event is named', async t => {
  const copy = place(t)
  cpSync(join(folder, 'data'), copy.dataDir, { recursive: true })
  const db = new Database(join(copy.dataDir, 'log.db'))
  db.exec(`UPDATE events SET body = replace(body, '"second"', '"sec0nd"') WHERE type = 'ApiKeyCreated'`)
  db.close()
  const { code, stdout } = await copy.run('log', 'verify')
  t.equal(code, 1)
  t.match(stdout, /^NOT intact: 1 fault\n {2}altered: position \d+, tenant-tn_\w+, revision 2, evt_\w+, /)
  const { ok, faults } = JSON.parse((await copy.run('log', 'verify', '--json')).stdout)
  t.notOk(ok)
  t.match(faults, [{ kind: 'altered', stream: /^tenant-tn_/, revision: 2 }])
})

t.test('an end that was cut off shows against the anchors of ANCHOR_FILE', async t => {
  const copy = place(t)
  cpSync(join(folder, 'data'), copy.dataDir, { recursive: true })
  const db = new Database(join(copy.dataDir, 'log.db'))
  const first = db.prepare(`SELECT max(position) FROM events WHERE type = 'ApiKeyCreated'`).pluck().get()
  db.prepare('DELETE FROM events WHERE position >= ?').run(first)
  db.prepare('UPDATE sqlite_sequence SET seq = ?').run(Number(first) - 1)
  db.close()
  const { code, stdout } = await copy.run('log', 'verify', '--anchors', join(folder, 'anchors.ndjson'))
  t.equal(code, 1)
  t.match(stdout, /kept elsewhere/)
})

t.test('an export is verified offline, line by line, without the DATA_DIR', async t => {
  const { code, stdout } = await run('log', 'export')
  t.equal(code, 0)
  const elsewhere = place(t)
  const file = join(elsewhere.folder, 'log.ndjson')
  writeFileSync(file, stdout)
  const anchors = join(folder, 'anchors.ndjson')
  const verified = await elsewhere.run('log', 'verify', '--export', file, '--anchors', anchors, '--json')
  t.equal(verified.code, 0)
  const lines = stdout.trimEnd().split('\n')
  t.equal(JSON.parse(verified.stdout).events, lines.length)
  t.notMatch(stdout, /keys-tn_|wrapped/, 'keys are left out')

  writeFileSync(file, stdout.replace('"second\\"', '"sec0nd\\"'))
  t.match(await elsewhere.run('log', 'verify', '--export', file), { code: 1, stdout: /altered: position/ })
  t.match(await elsewhere.run('log', 'verify', '--export', 'nothing.ndjson'), { code: 1, stderr: /no file/ })
  t.match(await elsewhere.run('log', 'verify', '--export', file, '--anchors', 'no'), {
    code: 1,
    stderr: /cannot be read/
  })
})

t.test('an export can be filtered, and be a table', async t => {
  const [head, ...rows] = (await run('log', 'export', '--type', 'ApiKeyCreated', '--format', 'csv')).stdout.split('\n')
  t.match(head, /^position,stream,/)
  t.equal(rows.filter(row => row.includes('ApiKeyCreated')).length, 2)
  const stream = rows[0]?.split(',')[1] ?? ''
  t.match(
    (await run('log', 'export', '--stream', stream)).stdout,
    /^\{.*TenantCreated.*\}\n(?:\{.*ApiKeyCreated.*\}\n){2}$/
  )
  t.match((await run('log', 'export', '--since', '2020-01-01', '--type', 'TenantCreated')).stdout, /TenantCreated/)
  t.match(await run('log', 'export', '--since', '2999-01-01'), { code: 0, stdout: '', stderr: 'no event matches\n' })
})

t.test('views are rebuilt from the log, and their status tells', async t => {
  const rebuilt = await run('views', 'rebuild', '--json')
  t.equal(rebuilt.code, 0)
  const { position, views } = JSON.parse(rebuilt.stdout)
  const status = JSON.parse((await run('views', 'status', '--json')).stdout)
  t.equal(status.head, position)
  t.equal(status.views.length, views)
  for (const view of status.views) t.match(view, { position, state: 'up to date' })
  t.match((await run('views', 'status')).stdout, /^The log ends at position \d+\.\nVIEW +VERSION +POSITION +STATE\n/)
  t.match((await run('views', 'rebuild')).stdout, /^\d+ views rebuilt from \d+ events in [\d.]+ s\n$/)
})
