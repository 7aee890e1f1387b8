/** The end of a process that nobody announced. */
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { lockDataDir } from '../../src/log/sqlite/lock.ts'
import { verifyDataDir } from '../../src/log/sqlite/verify-data-dir.ts'
import { startLogChild } from '../support/child.ts'
import { all, event, openThreadedLog, startLogWorker, temporaryDirectory } from '../support/log.ts'

type Scope = Parameters<typeof temporaryDirectory>[0]

/** Kills a process that appends, and answers what it had acknowledged. */
async function crashed(t: Scope, dataDir: string): Promise<readonly { position: number; id: string }[]> {
  const child = startLogChild(t, 'append', dataDir)
  await child.said(500)
  await child.kill()
  return child.lines.slice(1).map(line => {
    const [position, id] = line.split(' ')
    return { position: Number(position), id: String(id) }
  })
}

t.test('kill -9 loses no acknowledged append', async t => {
  const dataDir = temporaryDirectory(t)
  const acknowledged = await crashed(t, dataDir)
  t.ok(acknowledged.length > 400)
  const log = await openThreadedLog(t, { dataDir })
  for (const { position, id } of acknowledged) {
    const event = await log.at(position)
    if (event?.id !== id) t.fail(`event ${id} is not at ${position}`)
  }
  const next = await log.append('s-new', -1, [event('after')])
  t.match(next, { kind: 'appended' })
  t.match(await verifyDataDir(dataDir), { ok: true })
})

t.test('the torn end of the write-ahead log is dropped, what was committed before stays', async t => {
  const dataDir = temporaryDirectory(t)
  const acknowledged = await crashed(t, dataDir)
  const wal = join(dataDir, 'log.db-wal')
  // Half a page of nonsense, as a write that did not finish leaves it.
  const half = readFileSync(wal).subarray(32, 32 + 2_000)
  truncateSync(wal, statSync(wal).size - ((statSync(wal).size - 32) % 4_120))
  appendFileSync(wal, half)
  const log = await openThreadedLog(t, { dataDir })
  t.ok((await log.head()) >= (acknowledged.at(-1)?.position ?? Number.POSITIVE_INFINITY))
  t.match(await log.append('s-new', -1, [event('after')]), { kind: 'appended' })
  t.match(await verifyDataDir(dataDir), { ok: true })
})

t.test('a write-ahead log that was cut anywhere leaves a log without a gap', async t => {
  const dataDir = temporaryDirectory(t)
  await crashed(t, dataDir)
  const files = ['log.db', 'log.db-wal'].map(name => [name, readFileSync(join(dataDir, name))] as const)
  for (const part of [0.9, 0.5, 0.2]) {
    const copy = temporaryDirectory(t)
    for (const [name, bytes] of files)
      writeFileSync(join(copy, name), name === 'log.db' ? bytes : bytes.subarray(0, bytes.length * part))
    const log = await openThreadedLog(t, { dataDir: copy })
    const report = await verifyDataDir(copy)
    t.match(report, { ok: true, events: await log.head() })
  }
})

t.test('one process owns a data directory', async t => {
  const dataDir = temporaryDirectory(t)
  const first = startLogChild(t, 'hold', dataDir)
  await first.said(1)
  t.same(first.lines, ['locked'])
  t.throws(() => lockDataDir(dataDir), { name: 'DataDirInUse', message: new RegExp(dataDir) })
  const second = startLogChild(t, 'hold', dataDir)
  await second.said(1)
  t.match(second.lines[0], /^DataDirInUse: another process is using the data directory/)

  await first.kill()
  const mine = lockDataDir(dataDir)
  t.throws(() => lockDataDir(dataDir), { name: 'DataDirInUse' })
  mine.release()
  lockDataDir(dataDir).release()
})

t.test('when the thread dies, an append under way is unknown and further ones are refused', async t => {
  const worker = startLogWorker()
  const log = await openThreadedLog(t, { worker })
  await log.append('s-1', -1, [event('a')])
  const [end] = await Promise.all([Promise.allSettled([log.append('s-1', 0, [event('b')])]), killedInNextTurn(worker)])
  const [sent] = end
  if (sent.status === 'rejected') t.not(sent.reason.name, 'LogUnavailable', 'nobody knows')
  else t.match(sent.value, { kind: 'appended' })
  await t.rejects(log.append('s-1', 0, [event('d')]), { name: 'LogUnavailable' })
  await t.rejects(log.erase('s-1'), { name: 'LogUnavailable' })
  t.equal((await all(log.read('s-1')))[0]?.id, 'evt_a', 'reading goes on')
})

/** Lets the append leave the main thread first. */
async function killedInNextTurn(worker: Worker): Promise<void> {
  await new Promise(setImmediate)
  await worker.terminate()
}
