import t from 'tap'
import type { ExportOptions } from '../../src/log/export.ts'
import { exportLines } from '../../src/log/export.ts'
import { openExport } from '../../src/log/export-source.ts'
import { openVerifySource } from '../../src/log/sqlite/verify-source.ts'
import { verifyLog } from '../../src/log/verify.ts'
import { anchorKeys, openAnchoredLog } from '../support/anchored-log.ts'
import { event, temporaryDirectory } from '../support/log.ts'

const keys = anchorKeys()
const dataDir = temporaryDirectory(t)
const log = openAnchoredLog(dataDir, keys)
const old = { ...event('old'), meta: JSON.stringify({ at: '2020-01-01T00:00:00.000Z' }) }
log.append('s-a', old, event('a1', 'quote " comma , line\nend'))
log.append('keys-tn_1', event('secret'))
log.append('s-b', { ...event('b0'), type: 'Other' })
log.append('s-gone', event('gone'))
log.writer.erase('s-gone')
await log.anchor()
log.append('s-a', event('a2'))
log.writer.close()

async function exported(options: Partial<ExportOptions> = {}): Promise<string[]> {
  const source = openVerifySource(dataDir)
  const lines: string[] = []
  for await (const line of exportLines(source, { format: 'ndjson', ...options })) lines.push(line)
  source.close()
  return lines
}

const source = (lines: readonly string[]) =>
  openExport(async function* () {
    yield* lines
  })
const options = { publicKeys: [keys.publicKey] }

t.test('an export has every event, and of keys and erased streams their hashes only', async t => {
  const lines = await exported()
  const events = lines.map(line => JSON.parse(line))
  t.same(
    events.map(({ position }) => position),
    [1, 2, 3, 4, 5, 6, 7]
  )
  t.same(Object.keys(events[2]), ['position', 'streamNo', 'revision', 'hash'])
  t.same(Object.keys(events[4]), ['position', 'streamNo', 'revision', 'hash'])
  t.match(events[1], { ...event('a1', 'quote " comma , line\nend'), stream: 's-a', revision: 1 })
  t.notMatch(lines.join('\n'), /secret|keys-tn_1/)
})

t.test('an export can be filtered by stream, type and time', async t => {
  const ids = async (filter: Partial<ExportOptions>) => (await exported(filter)).map(line => JSON.parse(line).id)
  t.same(await ids({ stream: 's-a' }), ['evt_old', 'evt_a1', 'evt_a2'])
  t.same(await ids({ type: 'Other' }), ['evt_b0'])
  t.same(await ids({ since: '2024-05-01T00:00:00Z', stream: 's-a' }), ['evt_a1', 'evt_a2'])
  t.same(await ids({ stream: 'keys-tn_1' }), [])
})

t.test('an export for spreadsheets has one record an event', async t => {
  const [head, first, second] = await exported({ format: 'csv' })
  t.equal(head, 'position,stream,streamNo,revision,id,type,at,hash,body,meta')
  t.match(first, /^1,s-a,1,0,evt_old,Tested,2020-01-01T00:00:00\.000Z,[0-9a-f]{64},"\{""v"":1/)
  t.match(second, 'quote \\"" comma , line\\nend')
})

t.test('an export is verified like the log itself', async t => {
  const lines = await exported()
  t.match(await verifyLog(source(lines), options), {
    ok: true,
    events: 7,
    withoutContent: 2,
    anchoredTo: 5,
    unanchored: { count: 1 }
  })
  t.match(await verifyLog(source(lines), { ...options, stream: 's-a' }), { ok: true, events: 3 })
})

t.test('a changed export is found out', async t => {
  const lines = await exported()
  const swapped = [lines[0], lines[2], lines[1], ...lines.slice(3)].map(String)
  const cases: readonly [readonly string[], object][] = [
    [lines.map(line => line.replace('evt_b0', 'evt_bb')), { kind: 'altered', position: 4 }],
    [lines.toSpliced(3, 1), { kind: 'missing', position: 4 }],
    [lines.toSpliced(2, 1), { kind: 'missing', position: 3 }],
    [swapped, { kind: 'reordered', position: 2 }],
    [lines.toSpliced(4, 1, 'not json'), { kind: 'unreadable', position: 5 }]
  ]
  for (const [changed, fault] of cases) t.match((await verifyLog(source(changed), options)).faults[0], fault)
})
