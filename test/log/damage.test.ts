/** A file that was damaged byte by byte, without SQL. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import t from 'tap'
import { verifyDataDir } from '../../src/log/sqlite/verify-data-dir.ts'
import { anchorKeys, openAnchoredLog } from '../support/anchored-log.ts'
import { event, temporaryDirectory } from '../support/log.ts'

const keys = anchorKeys()
const original = temporaryDirectory(t)
const log = openAnchoredLog(original, keys)
for (let index = 0; index < 150; index++)
  log.append(`s-${index % 20}`, event(`e${index}`, `marker-${index}-${'x'.repeat(index)}`))
log.append('s-large', event('large', 'y'.repeat(20_000)))
await log.anchor()
log.append('s-1', event('tail'))
log.writer.close()
const intact = readFileSync(join(original, 'log.db'))
const options = { publicKeys: [keys.publicKey] }

/** Everything that the log says: a byte that changes none of it is no fault. */
function contentOf(dataDir: string): string {
  const db = new Database(join(dataDir, 'log.db'), { readonly: true })
  try {
    const tables = ['events', 'streams', 'sqlite_sequence'].map(table => db.prepare(`SELECT * FROM ${table}`).all())
    return JSON.stringify(tables)
  } finally {
    db.close()
  }
}

const truth = contentOf(original)

function damaged(t: Parameters<typeof temporaryDirectory>[0], change: (bytes: Buffer) => void): string {
  const dataDir = temporaryDirectory(t)
  const bytes = Buffer.from(intact)
  change(bytes)
  writeFileSync(join(dataDir, 'log.db'), bytes)
  return dataDir
}

t.test('one changed byte of an event is named, wherever it stands', async t => {
  for (const marker of ['marker-7-', 'marker-80-', 'marker-149-', 'yyyyyyyyyyyyyyyyyyyyyyyy']) {
    const at = intact.indexOf(marker)
    const dataDir = damaged(t, bytes => {
      bytes[at + 3] = (bytes[at + 3] ?? 0) ^ 1
    })
    const index = marker.startsWith('y') ? 150 : Number(marker.split('-')[1])
    t.match((await verifyDataDir(dataDir, options)).faults[0], { kind: 'altered', position: index + 1 })
  }
})

t.test('a hash that became a text, with the same bytes, is named', async t => {
  const dataDir = damaged(t, () => undefined)
  const db = new Database(join(dataDir, 'log.db'))
  db.exec('UPDATE events SET hash = CAST(hash AS TEXT) WHERE position = 38')
  db.close()
  t.match((await verifyDataDir(dataDir, options)).faults[0], { position: 38 })
})

t.test('any changed byte is either a fault or changes nothing that the log says', async t => {
  const change = fc.record({ at: fc.nat({ max: intact.length - 1 }), mask: fc.integer({ min: 1, max: 255 }) })
  await fc.assert(
    fc.asyncProperty(change, async ({ at, mask }) => {
      const dataDir = damaged(t, bytes => {
        bytes[at] = (bytes[at] ?? 0) ^ mask
      })
      const report = await verifyDataDir(dataDir, options)
      if (report.ok && contentOf(dataDir) !== truth) throw new Error(`byte ${at} was changed and nobody saw it`)
    }),
    { numRuns: 150 }
  )
  t.pass('no change stayed unseen')
})

t.test('a page that was overwritten is a fault, and what can be read is still checked', async t => {
  const pages = intact.length / 4096
  for (const page of [2, Math.floor(pages / 2), pages - 1]) {
    const dataDir = damaged(t, bytes => bytes.fill(0xa5, page * 4096, (page + 1) * 4096))
    const report = await verifyDataDir(dataDir, options)
    t.notOk(report.ok)
    t.ok(report.faults.length > 0)
  }
})

t.test('a file that lost its end, its beginning or everything is a fault', async t => {
  for (const bytes of [
    intact.subarray(0, intact.length - 4096),
    Buffer.alloc(intact.length),
    Buffer.from('no database')
  ]) {
    const dataDir = temporaryDirectory(t)
    writeFileSync(join(dataDir, 'log.db'), bytes)
    t.notOk((await verifyDataDir(dataDir, options)).ok)
  }
})

t.test('verifying changes nothing', async t => {
  const dataDir = temporaryDirectory(t)
  copyFileSync(join(original, 'log.db'), join(dataDir, 'log.db'))
  t.match(await verifyDataDir(dataDir, options), { ok: true })
  t.ok(readFileSync(join(dataDir, 'log.db')).equals(intact))
})
