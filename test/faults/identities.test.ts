/** An erasure of a person with several identities is completed wherever a process died in it. */
import t from 'tap'
import { NO_STREAM } from '../../src/log/port.ts'
import { openLocalLog } from '../../src/log/sqlite/local.ts'
import { logFile } from '../../src/log/sqlite/schema.ts'
import { rebuildViews } from '../support/data-dir.ts'
import { eventually } from '../support/eventually.ts'
import { startPeople } from '../support/people.ts'

const { world, tenant, erase, somebody, isGone } = await startPeople(t)
const { service, dataDir } = world

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
