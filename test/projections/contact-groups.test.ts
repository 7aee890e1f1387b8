/** Contacts that came to be known as the same person: every question about one of them is about all. */
import { join } from 'node:path'
import t from 'tap'
import { ALL_SHARDS } from '../../src/domain/shards.ts'
import { at, createHistory, type History, idOf, TENANT } from './history.ts'
import { CHANNEL, inbound, message } from './message-events.ts'
import { dump, foldLive, viewsOf } from './spec.ts'

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map(name => idOf('ct', name)) as [string, string, string, string]
const streamOf = (name: string): string => `keys-${TENANT}.index${name}.1`

const born = (history: History, contactId: string, name: string, second = 0) =>
  history.append(streamOf(name), [
    { type: 'ContactKeyCreated', at: at(second), data: { contactId, tenantId: TENANT, index: 'i', wrapped: 'w' } }
  ])
/** The address of the stream `name` is one more of `contactId`, whose key stands in `to`. */
const linked = (history: History, name: string, contactId: string, to: string, former?: string) => {
  const more = former === undefined ? {} : { former }
  const data = { contactId, tenantId: TENANT, index: 'i', keyStream: streamOf(to), ...more }
  history.append(streamOf(name), [{ type: 'ContactLinked', at: at(50), data }])
}
const erasure = (history: History, type: string, contactId: string, more: object = {}) =>
  history.append(`erasure-${contactId}`, [{ type, at: at(60), data: { contactId, tenantId: TENANT, ...more } }])

/** Four contacts with a message each; A has one more address, B and C become A's, D stays alone. */
function given(): { history: History; ids: readonly string[] } {
  const history = createHistory()
  const all = [A, B, C, D]
  for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) born(history, all[index] ?? '', name)
  const ids = all.map((contactId, index) => message(history, `of ${index}`, 10 + index, [], { contactId }))
  inbound(history, 'heard', 30, { contactId: C })
  linked(history, 'alias', A, 'a')
  linked(history, 'b', A, 'a', B)
  linked(history, 'c', B, 'b', C)
  return { history, ids }
}

t.test('any contact of a person answers for all of them', async t => {
  const { history, ids } = given()
  const file = join(t.testdir({}), 'views.db')
  const pages = await foldLive(file, history)
  t.same(pages[0]?.touched.relinked, [B, C], 'other nodes are told whose address is another’s now')
  const views = await viewsOf(file, history)
  for (const contactId of [A, B, C]) {
    const { contactIds, streams } = views.identities(contactId)
    t.same([...contactIds].sort(), [A, B, C].sort())
    t.same([...streams].sort(), ['a', 'alias', 'b', 'c'].map(streamOf).sort())
    t.ok(views.knows(CHANNEL, contactId))
    t.equal(views.lastInboundAt(CHANNEL, contactId), at(30))
    const [one, two, three] = ids
    t.same(
      views.messages(TENANT, { contactId }, 10, null).items.map(row => row.id),
      [three, two, one]
    )
    const first = views.messages(TENANT, { contactId, channelId: CHANNEL, state: 'queued' }, 2, null)
    t.same(
      first.items.map(row => row.id),
      [three, two]
    )
    t.same(
      views.messages(TENANT, { contactId }, 2, first.nextCursor).items.map(row => row.id),
      [one],
      'and pages'
    )
  }
  t.same(views.identities(D), { contactIds: [D], streams: [streamOf('d')] })
  t.notOk(views.knows(CHANNEL, D))
  t.same(
    views.messages(TENANT, { contactId: D }, 10, null).items.map(row => row.id),
    [ids[3]]
  )
  t.same(views.identities(idOf('ct', 'unheard of')), { contactIds: [idOf('ct', 'unheard of')], streams: [] })
  views.close()
})

t.test(
  'an erasure takes the whole person, also who was linked without the knowledge of whoever recorded it',
  async t => {
    const { history } = given()
    erasure(history, 'ContactErased', B, { linked: [A] })
    const file = join(t.testdir({}), 'views.db')
    const pages = await foldLive(file, history)
    t.same([...(pages[0]?.touched.contact ?? [])].sort(), [A, B, C].sort())
    const views = await viewsOf(file, history)
    const left = views.erasure(B)
    t.same([...(left?.contactIds ?? [])].sort(), [A, B, C].sort())
    t.same([...(left?.streams ?? [])].sort(), ['a', 'alias', 'b', 'c'].map(streamOf).sort())
    for (const contactId of [A, B, C]) {
      t.equal(views.contactStream(contactId), null)
      t.same(views.identities(contactId), { contactIds: [contactId], streams: [] })
    }
    t.equal(views.contactStream(D), streamOf('d'))
    views.close()
    erasure(history, 'ContactErasureCompleted', B)
    await foldLive(file, history)
    t.equal(dump(file).erasures?.length, 0)
    t.same(dump(file).contact_groups, [])
    t.notOk(/index(a|b|c|alias)/.test(JSON.stringify(dump(file))), 'nothing of the views leads to the keys any more')
  }
)

t.test('a link to somebody who was erased meanwhile joins nobody', async t => {
  const history = createHistory()
  born(history, A, 'a')
  born(history, B, 'b')
  message(history, 'one', 5, [], { contactId: A })
  erasure(history, 'ContactErased', A)
  erasure(history, 'ContactErasureCompleted', A)
  linked(history, 'b', A, 'a', B)
  linked(history, 'alias', A, 'a')
  const file = join(t.testdir({}), 'views.db')
  const views = await viewsOf(file, history)
  t.same(views.identities(B), { contactIds: [B], streams: [streamOf('b')] })
  t.match(views.dueTodos(at(100), ALL_SHARDS, 10), [{ kind: 'finish_erasure', subject: A }])
  t.match(views.erasure(A), { streams: [streamOf('alias')] }, 'its new address has no key to stay for')
  views.close()
  erasure(history, 'ContactErasureCompleted', A)
  const done = await viewsOf(file, history)
  t.same(done.dueTodos(at(100), ALL_SHARDS, 10), [])
  done.close()
})
