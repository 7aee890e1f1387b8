/** Whoever can write the file tries to change history. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { chainHash, NO_HASH } from '../../src/log/hash-chain.ts'
import { verifyDataDir } from '../../src/log/sqlite/verify-data-dir.ts'
import type { VerifyOptions } from '../../src/log/verify.ts'
import type { VerifyReport } from '../../src/log/verify-report.ts'
import { anchorKeys, openAnchoredLog } from '../support/anchored-log.ts'
import { event, temporaryDirectory } from '../support/log.ts'

const keys = anchorKeys()
const publicKeys = [keys.publicKey]
const original = temporaryDirectory(t)

/**
 * 1 a0, 2 b0, 3 a1, 4 keys (erased), 5 c0, 6 anchor of 1 to 5, 7 b1, 8 a2, 9 c1, 10 anchor of 6 to 9, 11 a3, 12 b2.
 */
const lines = await writeOriginal()

async function writeOriginal(): Promise<readonly string[]> {
  const log = openAnchoredLog(original, keys)
  for (const [stream, name] of [
    ['s-a', 'a0'],
    ['s-b', 'b0'],
    ['s-a', 'a1'],
    ['keys-1', 'k0'],
    ['s-c', 'c0']
  ] as const)
    log.append(stream, event(name))
  await log.anchor()
  for (const [stream, name] of [
    ['s-b', 'b1'],
    ['s-a', 'a2'],
    ['s-c', 'c1']
  ] as const)
    log.append(stream, event(name))
  log.writer.erase('keys-1')
  await log.anchor()
  for (const [stream, name] of [
    ['s-a', 'a3'],
    ['s-b', 'b2']
  ] as const)
    log.append(stream, event(name))
  log.writer.close()
  return log.lines
}

type Tamper = (db: Database.Database) => void
type Scope = Parameters<typeof temporaryDirectory>[0]

async function verified(t: Scope, tamper: Tamper, options: VerifyOptions = { publicKeys }): Promise<VerifyReport> {
  const dataDir = temporaryDirectory(t)
  copyFileSync(join(original, 'log.db'), join(dataDir, 'log.db'))
  const db = new Database(join(dataDir, 'log.db'))
  tamper(db)
  db.close()
  return verifyDataDir(dataDir, options)
}

const sql =
  (...statements: string[]): Tamper =>
  db => {
    for (const statement of statements) db.exec(statement)
  }

/** Recomputes a stream's chain, and its head, over whatever stands there now. */
const rechain =
  (stream: string): Tamper =>
  db => {
    const no = db.prepare('SELECT no FROM streams WHERE name = ?').pluck().get(stream)
    const rows = db.prepare<unknown[], Row>('SELECT * FROM events WHERE stream_no = ? ORDER BY revision').all(no)
    let hash = NO_HASH
    let revision = -1
    for (const row of rows) {
      revision = row.revision
      hash = chainHash(hash, stream, revision, row)
      db.prepare('UPDATE events SET hash = ? WHERE position = ?').run(Buffer.from(hash, 'hex'), row.position)
    }
    db.prepare('UPDATE streams SET revision = ?, head_hash = ? WHERE no = ?').run(
      revision,
      Buffer.from(hash, 'hex'),
      no
    )
  }

type Row = { position: number; revision: number; id: string; type: string; body: string; meta: string }

const both =
  (...steps: Tamper[]): Tamper =>
  db => {
    for (const step of steps) step(db)
  }

const swap = (one: number, two: number) =>
  sql(
    `UPDATE events SET position = -1 WHERE position = ${one}`,
    `UPDATE events SET position = ${one} WHERE position = ${two}`,
    `UPDATE events SET position = ${two} WHERE position = -1`
  )

t.test('an untouched log is intact, and tells what is not anchored yet', async t => {
  const report = await verified(t, () => {})
  t.match(report, { ok: true, events: 12, streams: 5, anchoredTo: 9, publicKeys, faults: [] })
  t.same(report.unanchored, { from: 11, to: 12, count: 2 })
  t.match(await verified(t, () => {}, {}), { ok: true })
  t.match(await verified(t, () => {}, { anchorLines: lines }), { ok: true })
})

const NEW_BODY = `UPDATE events SET body = replace(body, '"a1"', '"xx"') WHERE position = 3`
const cut = (from: number) =>
  sql(`DELETE FROM events WHERE position >= ${from}`, `UPDATE sqlite_sequence SET seq = ${from - 1}`)

const attacks: readonly [string, Tamper, Partial<VerifyReport['faults'][number]>][] = [
  ['an altered body', sql(NEW_BODY), { kind: 'altered', position: 3, stream: 's-a', revision: 1, eventId: 'evt_a1' }],
  ['altered metadata', sql(`UPDATE events SET meta = '{}' WHERE position = 8`), { kind: 'altered', position: 8 }],
  ['an altered id', sql(`UPDATE events SET id = 'evt_zz' WHERE position = 5`), { kind: 'altered', position: 5 }],
  ['an altered type', sql(`UPDATE events SET type = 'Paid' WHERE position = 12`), { kind: 'altered', position: 12 }],
  [
    'an altered hash',
    sql('UPDATE events SET hash = zeroblob(32) WHERE position = 4'),
    { kind: 'altered', position: 4 }
  ],
  ['a body of another kind', sql('UPDATE events SET body = 7 WHERE position = 7'), { kind: 'altered', position: 7 }],
  [
    'a rewritten event whose chain was recomputed',
    both(sql(NEW_BODY), rechain('s-a')),
    { kind: 'altered', position: 3 }
  ],
  ['an event that is gone', sql('DELETE FROM events WHERE position = 3'), { kind: 'missing', position: 3 }],
  [
    'an event that is gone, its chain recomputed',
    both(
      sql(
        'DELETE FROM events WHERE position = 3',
        'UPDATE events SET revision = revision - 1 WHERE stream_no = 1 AND position > 3'
      ),
      rechain('s-a')
    ),
    { kind: 'missing', position: 3 }
  ],
  [
    'the newest event of a stream, gone',
    sql('DELETE FROM events WHERE position = 9'),
    { kind: 'missing', position: 9 }
  ],
  ['the newest event of all, gone', sql('DELETE FROM events WHERE position = 12'), { kind: 'missing', position: 12 }],
  ['the newest event of all, gone from the counter too', cut(12), { kind: 'missing', position: 0, stream: 's-b' }],
  [
    'a whole stream, gone',
    sql(
      "DELETE FROM events WHERE stream_no = (SELECT no FROM streams WHERE name = 's-c')",
      `DELETE FROM streams WHERE name = 's-c'`
    ),
    { kind: 'missing', position: 5 }
  ],
  ['a stream that lost its events', sql('DELETE FROM events WHERE stream_no = 1'), { kind: 'missing', position: 1 }],
  ['a stream that lost its name', sql(`DELETE FROM streams WHERE name = 's-c'`), { kind: 'altered', position: 5 }],
  [
    'a stream under another name',
    sql(`UPDATE streams SET name = 's-z' WHERE name = 's-c'`),
    { kind: 'altered', position: 5 }
  ],
  [
    'a stream head of another event',
    sql(`UPDATE streams SET head_hash = zeroblob(32) WHERE name = 's-b'`),
    { kind: 'stream_head', stream: 's-b' }
  ],
  [
    'a stream head that lies before its events',
    sql(`UPDATE streams SET revision = 1 WHERE name = 's-b'`),
    { kind: 'stream_head', stream: 's-b' }
  ],
  ['swapped events of one stream', swap(1, 3), { kind: 'reordered', position: 1 }],
  ['swapped events of two streams', swap(2, 3), { kind: 'reordered', position: 2 }],
  [
    'swapped events that are not anchored',
    both(sql(`UPDATE events SET stream_no = 1, revision = 4 WHERE position = 12`), rechain('s-a'), swap(11, 12)),
    { kind: 'reordered', position: 11 }
  ],
  ['an anchor that is gone', sql('DELETE FROM events WHERE position = 6'), { kind: 'missing', position: 6 }],
  [
    'an anchor of other figures',
    both(
      sql(`UPDATE events SET body = replace(body, '"count":4', '"count":3') WHERE position = 10`),
      rechain('anchors')
    ),
    { kind: 'anchor_signature', position: 10 }
  ],
  [
    'an anchor of other figures that is anchored itself',
    both(
      sql(`UPDATE events SET body = replace(body, '"count":5', '"count":4') WHERE position = 6`),
      rechain('anchors')
    ),
    { kind: 'altered', position: 6 }
  ],
  [
    'an erased stream that has content again',
    sql(`UPDATE events SET body = '{}' WHERE position = 4`),
    { kind: 'altered', position: 4 }
  ],
  [
    'content that was blanked as if it were erased',
    sql(`UPDATE events SET id = '', type = '', body = '', meta = '' WHERE position = 5`),
    { kind: 'altered', position: 5 }
  ]
]

for (const [name, tamper, fault] of attacks)
  t.test(name, async t => {
    const report = await verified(t, tamper)
    t.notOk(report.ok)
    t.match(report.faults[0], fault)
  })

t.test('an event that was put in', async t => {
  const shift = sql(
    'UPDATE events SET position = -position - 1 WHERE position >= 8',
    'UPDATE events SET position = -position WHERE position < 0',
    `INSERT INTO events SELECT 8, stream_no, 5, hash, 'evt_new', type, body, meta FROM events WHERE position = 7`,
    `UPDATE streams SET revision = 5 WHERE name = 's-b'`,
    `UPDATE events SET stream_no = 2 WHERE position = 8`
  )
  t.match((await verified(t, shift)).faults[0], { position: 8 })
})

t.test('anchors signed by somebody else are not believed', async t => {
  const others = [anchorKeys().publicKey]
  t.match((await verified(t, () => {}, { publicKeys: others })).faults[0], { kind: 'anchor_signature', position: 6 })
})

t.test('an end that was cut off with everything that tells of it shows against the anchors kept elsewhere', async t => {
  const everything = both(cut(10), rechain('s-a'), rechain('s-b'), rechain('anchors'))
  t.match(await verified(t, everything), { ok: true }, 'the file alone cannot tell')
  const report = await verified(t, everything, { publicKeys, anchorLines: lines })
  t.match(report.faults, [{ kind: 'missing', position: 6, message: /kept elsewhere/ }])
})

t.test('one stream is verified by itself, against its anchors too', async t => {
  const options = { publicKeys, stream: 's-a' }
  t.match(await verified(t, () => {}, options), {
    ok: true,
    events: 4,
    streams: 1,
    unanchored: { from: 11, to: 11, count: 1 }
  })
  t.match((await verified(t, both(sql(NEW_BODY), rechain('s-a')), options)).faults[0], { kind: 'altered', position: 3 })
  t.match(await verified(t, sql('DELETE FROM events WHERE position = 11'), options), { ok: false })
  t.match(
    await verified(t, sql(`UPDATE events SET meta = '{}' WHERE position = 2`), options),
    { ok: true },
    'not its event'
  )
  t.match(await verified(t, () => {}, { stream: 's-never' }), { ok: false })
})

t.test('a directory without a log is an error, not a fault', async t => {
  await t.rejects(verifyDataDir(temporaryDirectory(t)), { name: 'LogUnavailable' })
})
