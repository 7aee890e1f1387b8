/**
 * The files that the service leaves behind after a day with everything in it: views that can be folded anew to the very
 * same rows, and a log in which every change is found and named.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import t from 'tap'
import { verifyDataDir } from '../../src/log/sqlite/verify-data-dir.ts'
import { copyOfLog, rebuildViews, rechain, viewsOfDataDir } from '../support/data-dir.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/log.ts'
import { someone } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, {
  settings: {
    WEBHOOK_RETRY_SECONDS: '0.05',
    DISPATCH_MAX_ATTEMPTS: '2',
    PROVIDER_TIMEOUT_SECONDS: '1.5',
    INDETERMINATE_TIMEOUT_SECONDS: '1'
  }
})
const { official, unofficial, service, dataDir } = world
const tenant = await world.tenant('acme')
const other = await world.tenant('globex')
const channel = await tenant.officialNumber(official)
const hooks = await tenant.receiver(t)
let rewritten = ''

await t.test('a day in which everything happens', async t => {
  const dead = await tenant.receiver(t)
  await dead.down()
  const failing = [
    ['refuse', { code: 131026 }, 'failed'],
    ['refuse', { code: 131016, httpStatus: 500, times: 2 }, 'failed'],
    ['refuse', { code: 131016, httpStatus: 500 }, 'read'],
    ['reset', { accept: true }, 'read'],
    ['reset', { accept: false }, 'failed'],
    ['duplicate_status', {}, 'read'],
    ['reorder_statuses', {}, 'read'],
    ['status_fail', { code: 131047 }, 'failed']
  ] as const
  for (const [fault, more, end] of failing) {
    const to = someone()
    await official.fault(fault, { match: { to }, ...more })
    const { messageId } = await tenant.send(channel.id, { to, metadata: { fault } })
    await tenant.reaches(messageId, end)
    rewritten = messageId
  }
  await tenant.send(channel.id, { key: 'twice' })
  await tenant.send(channel.id, { key: 'twice' })
  const forgotten = someone()
  const hi = { type: 'text', text: { body: 'Hi' } }
  const { phoneNumberId } = channel
  await official.inbound({ phoneNumberId, message: hi, from: null, fromUserId: 'BR.1' })
  await official.inbound({ phoneNumberId, message: hi, from: forgotten, fromUserId: 'BR.1' })
  await official.inbound({ phoneNumberId, message: hi, from: someone(), fromUserId: 'BR.2' })
  await tenant.reaches((await tenant.send(channel.id, { to: forgotten })).messageId, 'read')
  const erased = await tenant.ask<{ messages: number }>('POST', '/v1/erasure', { contact: forgotten })
  t.match(erased, { status: 200, body: { messages: 1 } })
  const waiting = await tenant.officialNumber(official)
  await official.fault('unauthorized')
  const burdened = await tenant.send(waiting.id)
  await tenant.reaches(burdened.messageId, 'retrying')
  await tenant.ask('DELETE', `/v1/channels/${waiting.id}`)
  await tenant.reaches(burdened.messageId, 'failed')
  const theirs = await other.unofficialNumber(unofficial, '5511970000001')
  await unofficial.fault('ack_before_answer')
  await other.reaches((await other.send(theirs.id)).messageId, 'read')
  const { attemptId } = (await other.startAttempt()).body
  await other.ask('DELETE', `/v1/channels/connect/${attemptId}`)
  await other.ask('PATCH', `/v1/channels/${theirs.id}`, { label: 'Renamed' })
  await other.ask('POST', `/v1/channels/${theirs.id}/disconnect`)
  const message = { type: 'text', text: { body: 'Hi' } }
  await official.inbound({ phoneNumberId: channel.phoneNumberId, message, count: 3, duplicates: 1 })
  await hooks.got('the last message', one => one.type === 'message.received')
  await eventually('dead deliveries', async () => {
    const query = `destinationId=${dead.destinationId}`
    const { body } = await tenant.ask<{ items: { state: string }[] }>('GET', `/v1/webhooks/deliveries?${query}`)
    return body.items.length > 10 && body.items.every(item => item.state === 'dead')
  })
  await tenant.ask('DELETE', `/v1/webhooks/destinations/${dead.destinationId}`)
  t.equal(await service.stop(), 0)
  t.notMatch(service.output(), /"level":(50|60)/, 'nothing went wrong on the way')
})

t.test('views that were thrown away come back byte for byte', async t => {
  const live = viewsOfDataDir(dataDir)
  for (const table of ['messages', 'queue', 'deliveries', 'audit', 'received', 'provider_ids', 'channels'])
    t.ok((live.rows[table]?.length ?? 0) > 0 || table === 'queue', `the day left rows in ${table}`)
  const { events } = await rebuildViews(dataDir)
  t.ok(events > 100)
  const folded = viewsOfDataDir(dataDir)
  t.same(Object.keys(folded.rows), Object.keys(live.rows))
  for (const [table, rows] of Object.entries(live.rows))
    t.equal(JSON.stringify(folded.rows[table]), JSON.stringify(rows), table)
  t.same(folded.indexes, live.indexes)
})

t.test('the log as the service left it is whole and anchored to its end', async t => {
  const report = await verifyDataDir(dataDir)
  t.match(report, { ok: true, faults: [] })
  t.equal(report.unanchored?.count ?? 0, report.unanchored === null ? 0 : 1, 'at most the last anchor itself is not')
  t.ok(
    report.publicKeys.every(key => service.output().includes(key)),
    'with the key that the start has printed'
  )
})

async function faultsAfter(t: Parameters<typeof temporaryDirectory>[0], change: (db: Database.Database) => void) {
  const target = temporaryDirectory(t)
  const db = copyOfLog(dataDir, target)
  change(db)
  db.close()
  return (await verifyDataDir(target)).faults
}

type Found = { position: number; revision: number; id: string; streamNo: number }
/** The newest event of this type in the message's stream. */
const find = (db: Database.Database, type: string): Found => {
  const found = db
    .prepare<unknown[], Found>(
      `SELECT e.position, e.revision, e.id, e.stream_no AS streamNo FROM events e JOIN streams s ON s.no = e.stream_no
       WHERE s.name = ? AND e.type = ? ORDER BY e.revision DESC`
    )
    .get(`message-${rewritten}`, type)
  if (!found) throw new Error(`the message has no ${type}`)
  return found
}

t.test('one changed byte of the file is named', async t => {
  const target = temporaryDirectory(t)
  const db = copyOfLog(dataDir, target)
  const { position, id } = find(db, 'MessageFailed')
  const body = String(db.prepare('SELECT body FROM events WHERE position = ?').pluck().get(position))
  db.close()
  const file = join(target, 'log.db')
  const bytes = readFileSync(file)
  const at = bytes.indexOf(body)
  t.ok(at > 0)
  bytes[at + body.indexOf('provider')] = 'q'.charCodeAt(0)
  writeFileSync(file, bytes)
  const report = await verifyDataDir(target)
  t.notOk(report.ok)
  t.match(report.faults, [{ kind: 'altered', position, eventId: id, stream: `message-${rewritten}` }])
})

t.test('an event that was rewritten, with its chain recomputed, is named', async t => {
  let position = 0
  const faults = await faultsAfter(t, db => {
    position = find(db, 'MessageFailed').position
    db.prepare(
      `UPDATE events SET body = replace(body, 'outside_24h_window', 'provider_rejected') WHERE position = ?`
    ).run(position)
    rechain(db, `message-${rewritten}`)
  })
  t.match(faults[0], { kind: 'altered', position })
})

t.test("a stream's last event that is gone, its head moved back, is named", async t => {
  let position = 0
  const faults = await faultsAfter(t, db => {
    position = find(db, 'MessageFailed').position
    db.prepare('DELETE FROM events WHERE position = ?').run(position)
    rechain(db, `message-${rewritten}`)
  })
  t.match(faults[0], { kind: 'missing', position })
})

t.test('a whole stream that is gone is named', async t => {
  let position = 0
  const faults = await faultsAfter(t, db => {
    const { streamNo } = find(db, 'MessageFailed')
    position = Number(db.prepare('SELECT min(position) FROM events WHERE stream_no = ?').pluck().get(streamNo))
    db.prepare('DELETE FROM events WHERE stream_no = ?').run(streamNo)
    db.prepare('DELETE FROM streams WHERE no = ?').run(streamNo)
  })
  t.match(faults[0], { kind: 'missing', position })
})

t.test('nothing that a person wrote or is called by stands readable in any file', async t => {
  for (const name of ['log.db', 'views.db']) {
    const text = readFileSync(join(dataDir, name)).toString('latin1')
    t.notMatch(text, /wamid\.|Hello|EAABtoken|55219999/, name)
  }
})
