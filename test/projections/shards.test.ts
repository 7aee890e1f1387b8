/** What a node is told to do is of its own shards, however much is overdue in those of others. */
import { join } from 'node:path'
import t from 'tap'
import type { Event } from '../../src/domain/event.ts'
import { ALL_SHARDS, shardOf } from '../../src/domain/shards.ts'
import type { TodoRow } from '../../src/projections/port.ts'
import { at, createHistory, type History, idOf, TENANT } from './history.ts'
import { viewsOf } from './spec.ts'

const event = (type: string, second: number, data: unknown = {}): Event => ({ type, at: at(second), data })
const OWN = shardOf(idOf('cxn', 'own'))
const FOREIGN = 1_000
const LIMIT = 128

/** Ids of others' shards, as many as are asked for. */
function foreignIds(prefix: 'cxn' | 'ch' | 'ct', count: number): readonly string[] {
  const ids: string[] = []
  for (let number = 0; ids.length < count; number++) {
    const id = idOf(prefix, `foreign ${number}`)
    if (shardOf(id) !== OWN) ids.push(id)
  }
  return ids
}

/** The first id of our own shard. */
function ownId(prefix: 'cxn' | 'ch' | 'ct'): string {
  for (let number = 0; ; number++) {
    const id = idOf(prefix, `own ${number}`)
    if (shardOf(id) === OWN) return id
  }
}

function startAttempt(history: History, attemptId: string, due: number): void {
  const data = {
    attemptId,
    tenantId: TENANT,
    label: null,
    session: { name: attemptId, baseUrl: 'http://instance', engine: 'noweb', own: false },
    expiresAt: at(due),
    termsVersion: 'v1'
  }
  history.append(`attempt-${attemptId}`, [event('AttemptStarted', 1, data)])
}

t.test('attempts, erasures and deleted numbers of other shards do not stand before ours', async t => {
  const history = createHistory()
  for (const id of foreignIds('cxn', FOREIGN)) startAttempt(history, id, 10)
  for (const contactId of foreignIds('ct', FOREIGN))
    history.append(`contact-${contactId}`, [event('ContactErased', 2, { contactId, tenantId: TENANT })])
  const [attempt, contact] = [ownId('cxn'), ownId('ct')]
  startAttempt(history, attempt, 50)
  history.append(`contact-${contact}`, [event('ContactErased', 60, { contactId: contact, tenantId: TENANT })])
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  t.match(views.dueTodos(at(100), [OWN], LIMIT), [
    { kind: 'expire_attempt', subject: attempt },
    { kind: 'finish_erasure', subject: contact }
  ])
  t.equal(views.dueTodos(at(100), [OWN], LIMIT).length, 2)
  t.equal(views.nextTodoDue([OWN]), at(50))
  t.same(views.dueTodos(at(100), [], LIMIT), [], 'who holds nothing has nothing to do')
  t.equal(views.nextTodoDue([]), null)
  views.close()
})

t.test('page by page everything that is due comes once', async t => {
  const history = createHistory()
  const ids = [...foreignIds('cxn', FOREIGN), ownId('cxn')]
  for (const [index, id] of ids.entries()) startAttempt(history, id, 10 + (index % 3))
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  const seen: string[] = []
  let page: readonly TodoRow[] = []
  do {
    page = views.dueTodos(at(100), ALL_SHARDS, LIMIT, page.at(-1))
    seen.push(...page.map(({ subject }) => subject))
  } while (page.length === LIMIT)
  t.same(seen.toSorted(), ids.toSorted())
  views.close()
})

t.test('expired messages of other shards do not stand before ours', async t => {
  const history = createHistory()
  const queue = (channelId: string, name: string, expires: number): void => {
    const messageId = idOf('msg', name)
    const data = {
      messageId,
      tenantId: TENANT,
      channelId,
      contactId: idOf('ct', 'c'),
      contentKind: 'text',
      expiresAt: at(expires)
    }
    history.append(`message-${messageId}`, [event('MessageQueued', 1, data)])
  }
  const [foreign = ''] = foreignIds('ch', 1)
  for (let number = 0; number < FOREIGN; number++) queue(foreign, `foreign ${number}`, 10)
  queue(ownId('ch'), 'ours', 50)
  const views = await viewsOf(join(t.testdir({}), 'views.db'), history)
  t.match(views.dueInQueue(at(100), [OWN], LIMIT), [{ messageId: idOf('msg', 'ours'), due: 'expiry' }])
  t.equal(views.dueInQueue(at(100), ALL_SHARDS, LIMIT).length, LIMIT)
  views.close()
})
