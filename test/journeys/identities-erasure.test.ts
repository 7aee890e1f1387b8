/** An erasure takes every identity of a person, whichever is named, and is completed wherever a process died in it. */
import t, { type Test } from 'tap'
import { NO_STREAM } from '../../src/log/port.ts'
import { openLocalLog } from '../../src/log/sqlite/local.ts'
import { logFile } from '../../src/log/sqlite/schema.ts'
import { keyStreams, rebuildViews, viewsOfDataDir } from '../support/data-dir.ts'
import { eventually } from '../support/eventually.ts'
import { someone } from '../support/tenant.ts'
import { tracesIn } from '../support/traces.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t)
const { official, unofficial, service, dataDir } = world
const tenant = await world.tenant('acme')
const native = await tenant.officialNumber(official)
const paired = await tenant.unofficialNumber(unofficial, '5511955550009')
const hooks = await tenant.receiver(t)

let people = 0
/**
 * Somebody known as two contacts, by phone number and by user id, and by a hidden id besides. Each has traces of every kind:
 * received with a medium, sent, waiting, webhooks under way. Resolves with the words that must go.
 */
async function somebody() {
  const before = new Set(keyStreams(dataDir))
  const place = String(++people).padStart(3, '0')
  const [phone, mark] = [someone(), `MARK${place}W8KY`]
  const user = `BR.77120865530274${place}`
  const lid = `8800000000001${place}@lid`
  const tell = (from: string | null, fromUserId: string | null) =>
    official.inbound({
      phoneNumberId: native.phoneNumberId,
      from,
      ...(fromUserId === null ? {} : { fromUserId }),
      profileName: `Name-${mark}`,
      message: { type: 'text', text: { body: `Said-${mark}` } }
    })
  const picture = (from: string, more: object = {}) =>
    unofficial.control('POST', `sessions/${paired.session}/inbound`, {
      from,
      message: { kind: 'document', filename: `Doc-${mark}.pdf`, data: Buffer.from(`Bytes-${mark}`).toString('base64') },
      ...more
    })
  const send = async (to: string, ref = native.id): Promise<string> =>
    (await tenant.send(ref, { to, text: `Text-${mark}`, metadata: { note: `Meta-${mark}` } })).messageId
  hooks.answers(() => ({ status: 503, body: `No-${mark}` }))
  await tell(phone, null)
  await tell(null, user)
  await picture(lid)
  await picture(phone)
  const done = [await send(phone), await send(user), await send(lid, paired.id)]
  for (const messageId of done) await tenant.reaches(messageId, 'read')
  await tell(phone, user)
  await unofficial.control('POST', 'contacts', { lids: { [lid]: phone } })
  await unofficial.control('POST', `sessions/${paired.session}/event`, {
    event: 'message.any',
    payload: {
      id: `false_${lid}_3A${mark}`,
      timestamp: Math.floor(Date.now() / 1000),
      from: lid,
      fromMe: false,
      source: 'app',
      body: `Both-${mark}`,
      hasMedia: false,
      _data: {
        key: { remoteJid: lid, remoteJidAlt: `${phone}@s.whatsapp.net`, fromMe: false, id: `3A${mark}` },
        message: { conversation: `Both-${mark}` }
      }
    }
  })
  await official.fault('throttle', { match: { to: phone }, code: 131056 })
  const waiting = await send(phone)
  await tenant.reaches(waiting, 'retrying')
  const forms = [phone, user, lid] as const
  const keys = keyStreams(dataDir).filter(stream => !before.has(stream))
  t.equal(keys.length, 3, 'they were three contacts')
  return { forms, words: [phone, user, lid.replace('@lid', ''), mark], keys, messages: [...done, waiting], waiting }
}
type Person = Awaited<ReturnType<typeof somebody>>

const erase = (contact: string) =>
  tenant.ask<{ messages: number; deliveriesCancelled: number }>('POST', '/v1/erasure', { contact })

/** Nothing of the person is left, and the counts stay. */
async function isGone(t: Test, { forms, words, keys, messages }: Person): Promise<void> {
  const left = (): readonly string[] => keyStreams(dataDir).filter(stream => keys.includes(stream))
  await eventually('no key', () => left().length === 0, { limitMs: 10_000, seen: left })
  t.same(tracesIn(dataDir, words), [], 'in every byte under DATA_DIR')
  for (const messageId of messages) t.equal((await tenant.track(messageId)).toAddress, '***')
  for (const form of forms) {
    const { body } = await tenant.ask<{ items: object[] }>('GET', `/v1/messages?recipient=${form}`)
    t.same(body.items, [])
    t.match((await erase(form)).body, { messages: 0, deliveriesCancelled: 0 })
  }
}

for (const index of [0, 1, 2])
  t.test(`erased by ${['phone number', 'user id', 'hidden id'][index]}: everything of everyone goes`, async t => {
    const person = await somebody()
    t.ok(person.words.every(word => word.length >= 8))
    const answer = await erase(person.forms[index] ?? '')
    t.match(answer, { status: 200, body: { messages: 4 } })
    t.ok(answer.body.deliveriesCancelled >= 4, 'deliveries of all of them end')
    t.notOk(
      keyStreams(dataDir).some(stream => person.keys.includes(stream)),
      'when it is answered no key is left'
    )
    await isGone(t, person)
    t.match(await tenant.track(person.waiting), { state: 'failed', lastError: 'contact_erased' })
    hooks.answers(() => 204)
    t.notOk(person.words.some(word => service.output().includes(word)))
  })

t.test('one contact with two addresses from the first message on: both key streams go', async t => {
  const [phone, user] = [someone(), 'BR.99120865530274001']
  const before = new Set(keyStreams(dataDir))
  await official.inbound({
    phoneNumberId: native.phoneNumberId,
    from: phone,
    fromUserId: user,
    message: { type: 'text', text: { body: 'Hi' } },
    count: 20
  })
  const keys = keyStreams(dataDir).filter(stream => !before.has(stream))
  t.equal(keys.length, 2)
  t.equal((await erase(user)).status, 200)
  t.notOk(keyStreams(dataDir).some(stream => keys.includes(stream)))
  t.same(tracesIn(dataDir, [phone, user]), [])
})

t.test('a kill at any moment: what was recorded is completed at the next start', async t => {
  for (const waitMs of [2, 8, 20]) {
    const person = await somebody()
    const asked = erase(person.forms[1]).then(
      answer => answer.status === 200,
      () => false
    )
    await new Promise(resolve => setTimeout(resolve, waitMs))
    await service.kill()
    const answered = await asked
    await service.start()
    const begun = async (): Promise<boolean> => (await tenant.track(person.messages[0] ?? '')).toAddress === '***'
    const ended = answered || (await eventually('an end', begun, { limitMs: 5_000 }).catch(() => false))
    // A kill before the record leaves nothing to complete: the client, who got no answer, asks again.
    if (!ended) t.equal((await erase(person.forms[1])).status, 200)
    t.comment(`killed after ${waitMs} ms: ${answered ? 'answered' : ended ? 'completed at the start' : 'not begun'}`)
    await isGone(t, person)
  }
})

/** The stopped service's log, as the process that died would have gone on with it. */
async function inTheLog(work: (log: ReturnType<typeof openLocalLog>) => Promise<void>): Promise<void> {
  t.equal(await service.stop(), 0)
  const log = openLocalLog({ file: logFile(dataDir) })
  await work(log)
  await log.close()
}
type Stored = { readonly stream: string; readonly type: string; readonly data: { contactId: string; former?: string } }
async function keyEvents(log: ReturnType<typeof openLocalLog>): Promise<readonly Stored[]> {
  const found: Stored[] = []
  for (let position = 1, head = await log.head(); position <= head; position++) {
    const event = await log.at(position)
    if (event && /^Contact(KeyCreated|Linked)$/.test(event.type))
      found.push({ stream: event.stream, type: event.type, data: JSON.parse(event.body).data })
  }
  return found
}

t.test('a death after the record, with some of the keys gone and the views lost: the rest goes too', async t => {
  for (const steps of [1, 2]) {
    const person = await somebody()
    await inTheLog(async log => {
      const events = await keyEvents(log)
      const links = events.filter(({ data }) => data.former !== undefined)
      const newest = links.at(-1)?.data
      const contactId = newest?.contactId ?? ''
      const linked = links.filter(({ data }) => data.contactId === contactId).map(({ data }) => data.former)
      t.equal(linked.length, 2, 'three contacts are one person')
      const at = new Date().toISOString()
      const body = JSON.stringify({ v: 1, data: { contactId, tenantId: tenant.tenantId, linked } })
      const meta = JSON.stringify({ tenant: tenant.tenantId, trace: null, cause: null, source: 'api', at })
      const id = `evt_${'0'.repeat(25)}${steps}`
      const recorded = await log.append(`erasure-${contactId}`, NO_STREAM, [{ id, type: 'ContactErased', body, meta }])
      t.equal(recorded.kind, 'appended')
      const streams = [contactId, ...linked].map(
        member => events.find(({ type, data }) => type === 'ContactKeyCreated' && data.contactId === member)?.stream
      )
      for (const stream of streams.slice(0, steps)) await log.erase(stream ?? '')
    })
    await rebuildViews(dataDir)
    await service.start()
    await isGone(t, person)
  }
})

t.test('after all these erasures the views fold anew to the very same rows', async t => {
  const left = await somebody()
  t.equal((await erase(left.forms[0])).status, 200)
  const kept = await somebody()
  hooks.answers(() => 204)
  t.equal(await service.stop(), 0)
  const live = viewsOfDataDir(dataDir)
  t.equal(live.rows.erasures?.length, 0)
  t.equal(live.rows.contact_groups?.length, 1, 'whoever was not erased stays linked')
  await rebuildViews(dataDir)
  const folded = viewsOfDataDir(dataDir)
  for (const [table, rows] of Object.entries(live.rows))
    t.equal(JSON.stringify(folded.rows[table]), JSON.stringify(rows), table)
  await service.start()
  t.match(await erase(kept.forms[2]), { status: 200, body: { messages: 4 } })
})
