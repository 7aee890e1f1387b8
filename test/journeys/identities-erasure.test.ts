/** An erasure takes every identity of a person, whichever is named. */
import t from 'tap'
import { keyStreams, rebuildViews, viewsOfDataDir } from '../support/data-dir.ts'
import { startPeople } from '../support/people.ts'
import { someone } from '../support/tenant.ts'
import { tracesIn } from '../support/traces.ts'

const { world, tenant, native, hooks, erase, somebody, isGone } = await startPeople(t)
const { official, service, dataDir } = world

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
