/** Disks that are full, read-only or not there. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openSqliteLogReadOnly } from '../../src/log/sqlite/home.ts'
import { MAX_OUTSTANDING_APPENDS } from '../../src/log/sqlite/outstanding.ts'
import { verifyDataDir } from '../../src/log/sqlite/verify-data-dir.ts'
import { openWriter } from '../../src/log/sqlite/writer.ts'
import { all, event, openThreadedLog, temporaryDirectory } from '../support/log.ts'

type Scope = Parameters<typeof temporaryDirectory>[0]

/** A file system of its own of one megabyte, or null where this user may not mount one. */
function smallDisk(t: Scope): { path: string; remount(options: string): void } | null {
  const path = join(temporaryDirectory(t), 'disk')
  mkdirSync(path)
  const run = (...args: string[]) => execFileSync(args[0] ?? '', args.slice(1), { stdio: 'ignore' })
  try {
    run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path)
  } catch {
    return null
  }
  t.teardown(() => run('umount', '-l', path))
  return { path, remount: options => void run('mount', '-o', `remount,${options}`, path) }
}

t.test('a full disk refuses appends, keeps what was acknowledged, and is written again once there is room', async t => {
  const disk = smallDisk(t)
  if (!disk) return void t.pass('skipped: this user cannot mount a small file system')
  const { path } = disk
  writeFileSync(join(path, 'filler'), Buffer.alloc(300_000))
  const log = await openThreadedLog(t, { dataDir: path })
  let revision = -1
  const fill = async (): Promise<void> => {
    for (;;)
      revision = Number(
        ((await log.append('s-1', revision, [event(`e${revision}`, 'x'.repeat(3_000))])) as { revision: number })
          .revision
      )
  }
  await t.rejects(fill(), { name: 'LogUnavailable', message: /full/ })
  await t.rejects(log.append('s-2', -1, [event('other', 'x'.repeat(9_000))]), { name: 'LogUnavailable' })
  t.equal((await all(log.read('s-1'))).length, revision + 1)
  rmSync(join(path, 'filler'))
  t.match(await log.append('s-1', revision, [event('room')]), { kind: 'appended', revision: revision + 1 })
  await log.close()
  t.match(await verifyDataDir(path), { ok: true, events: revision + 2 })
})

t.test('a read-only disk is said in one line', async t => {
  const disk = smallDisk(t)
  if (!disk) return void t.pass('skipped: this user cannot mount a small file system')
  const { path } = disk
  openWriter({ file: join(path, 'log.db') }).close()
  disk.remount('ro')
  await t.rejects(openThreadedLog(t, { dataDir: path }), {
    name: 'LogUnavailable',
    message: /read-only|cannot be opened/
  })
})

t.test('a directory that does not exist, and a file that is no log, are said in one line', async t => {
  const dataDir = temporaryDirectory(t)
  await t.rejects(openThreadedLog(t, { dataDir: join(dataDir, 'nowhere') }), { name: 'LogUnavailable' })
  t.throws(() => openSqliteLogReadOnly({ dataDir }), { name: 'LogUnavailable' })
  writeFileSync(join(dataDir, 'log.db'), 'this is a letter, and no database at all'.repeat(200))
  await t.rejects(openThreadedLog(t, { dataDir }), { name: 'LogUnavailable', message: /damaged or not a database/ })
})

t.test('appends beyond what may wait are refused at once, and those that wait are written', async t => {
  const log = await openThreadedLog(t)
  const one = event('e')
  const ends = await Promise.allSettled(
    Array.from({ length: MAX_OUTSTANDING_APPENDS + 10 }, (_, index) => log.append(`s-${index}`, -1, [one]))
  )
  const refused = ends.filter(end => end.status === 'rejected')
  t.equal(refused.length, 10)
  t.ok(refused.every(({ reason }) => reason.name === 'LogUnavailable'))
  t.equal(await log.head(), MAX_OUTSTANDING_APPENDS)
  t.match(await log.append('s-later', -1, [one]), { kind: 'appended' })
})
