/** Places on instances: taken by an attempt, kept by the number that it becomes, free again at the end of either. */
import { join } from 'node:path'
import t from 'tap'
import type { Event } from '../../src/domain/event.ts'
import { at, createHistory, idOf, TENANT } from './history.ts'
import { viewsOf } from './spec.ts'

const HERE = 'http://here.test'
const THERE = 'http://there.test'
const event = (type: string, data: unknown = {}): Event => ({ type, at: at(1), data })

t.test('places are counted by instance, in the order of the log', async t => {
  const history = createHistory()
  const dir = t.testdir({})
  const attempt = (name: string) => idOf('cxn', name)
  const session = (name: string, baseUrl: string) => ({ name: attempt(name), baseUrl, engine: 'noweb', own: false })
  const happens = (name: string, ...events: Event[]) => history.append(`attempt-${attempt(name)}`, events)
  const start = (name: string, baseUrl: string) => {
    const data = { attemptId: attempt(name), tenantId: TENANT, label: null, termsVersion: 'v1', expiresAt: at(600) }
    happens(name, event('AttemptStarted', { ...data, session: session(name, baseUrl) }))
  }
  const look = async () => {
    const views = await viewsOf(join(dir, 'views.db'), history)
    const found = {
      counts: [views.sessionsOn(HERE), views.sessionsOn(THERE)],
      before: ['a', 'b', 'c', 'd'].map(name => views.sessionsBefore(attempt(name)))
    }
    views.close()
    return found
  }

  for (const name of ['a', 'b', 'c']) start(name, HERE)
  start('d', THERE)
  t.same(await look(), { counts: [3, 1], before: [0, 1, 2, 0] })

  happens('a', event('AttemptExpired'))
  happens('d', event('AttemptCancelled'))
  t.same(await look(), { counts: [2, 0], before: [null, 0, 1, null] })

  const channelId = idOf('ch', 'b')
  const promotion = { channelId, number: '49' }
  happens('b', event('AttemptPaired', promotion))
  const creation = { channelId, tenantId: TENANT, kind: 'unofficial', label: null, number: '49', source: 'connect' }
  history.append(`channel-${channelId}`, [event('ChannelConnected', { ...creation, session: session('b', HERE) })])
  happens('b', event('AttemptConnected', promotion))
  t.same(await look(), { counts: [2, 0], before: [null, 0, 1, null] }, 'the number keeps the place, and its turn')

  happens('c', event('AttemptPaired', { channelId: idOf('ch', 'c'), number: '49' }))
  happens('c', event('AttemptFailed', { code: 'number_in_use' }))
  t.same(await look(), { counts: [1, 0], before: [null, 0, null, null] })

  history.append(`channel-${channelId}`, [event('ChannelDeleted', { source: 'admin' })])
  t.same(await look(), { counts: [0, 0], before: [null, null, null, null] })
})
