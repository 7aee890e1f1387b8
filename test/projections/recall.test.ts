import { join } from 'node:path'
import t from 'tap'
import type { Event } from '../../src/domain/event.ts'
import { projections } from '../../src/projections/all.ts'
import { openViews } from '../../src/projections/open-views.ts'
import { createRunner } from '../../src/projections/runner.ts'
import { at, createHistory, idOf, LOG_ID, TENANT } from './history.ts'

const event = (type: string, second: number, data: unknown): Event => ({ type, at: at(second), data })
const CHANNEL = idOf('ch', 'one')
const DESTINATION = idOf('whd', 'one')
const NUMBER = '5511900000001'
const PLATFORM_ID = '100000000000001'

t.test('what is remembered of channels, keys and destinations is asked anew when a page has changed it', async t => {
  const history = createHistory()
  const file = join(t.testdir({}), 'views.db')
  const options = { file, logId: LOG_ID, projections, readPage: history.readPage }
  const runner = createRunner({ ...options, onPage: done => views.pageDone(done) })
  const views = openViews({ file, messageNoOf: history.messageNoOf })
  t.teardown(() => {
    runner.close()
    views.close()
  })
  const look = () => ({
    label: views.channelById(CHANNEL)?.label,
    byNumber: views.channelByRef(TENANT, NUMBER)?.id,
    onPlatform: views.channelsByPhoneNumberId(PLATFORM_ID).map(({ state }) => state),
    revoked: views.keyByDigest('digest')?.revoked,
    url: views.destination(TENANT, DESTINATION)?.url
  })
  const nothing = { label: undefined, byNumber: undefined, onPlatform: [], revoked: undefined, url: undefined }
  t.same(look(), nothing, 'that there is nothing is not remembered')

  const creation = {
    channelId: CHANNEL,
    tenantId: TENANT,
    kind: 'official',
    label: 'before',
    number: NUMBER,
    phoneNumberId: PLATFORM_ID,
    source: 'connect'
  }
  const key = { keyId: 'key_a', name: 'a', digest: 'digest', permissions: [], lastFour: 'abcd' }
  const receiver = { destinationId: DESTINATION, tenantId: TENANT, url: 'https://a.example', secretLast4: 'a' }
  history.append(`channel-${CHANNEL}`, [event('ChannelConnected', 1, creation)])
  history.append(`tenant-${TENANT}`, [event('ApiKeyCreated', 2, key)])
  history.append(`destination-${DESTINATION}`, [event('DestinationCreated', 3, receiver)])
  await runner.advance()
  const made = { byNumber: CHANNEL, onPlatform: ['connected'], revoked: false, url: 'https://a.example' }
  t.same(look(), { ...made, label: 'before' })
  t.same(look(), { ...made, label: 'before' })
  t.equal(views.channel('tn_other', CHANNEL), null, 'another tenant is not answered from memory')
  t.equal(views.destination('tn_other', DESTINATION), null)

  history.append(`channel-${CHANNEL}`, [
    event('ChannelRenamed', 4, { label: 'after' }),
    event('ChannelDeleted', 5, { source: 'admin' })
  ])
  history.append(`tenant-${TENANT}`, [event('ApiKeyRevoked', 6, { keyId: 'key_a', digest: 'digest' })])
  history.append(`destination-${DESTINATION}`, [event('DestinationChanged', 7, { url: 'https://b.example' })])
  await runner.advance()
  const changed = { byNumber: undefined, onPlatform: ['deleted'], revoked: true, url: 'https://b.example' }
  t.same(look(), { ...changed, label: 'after' })
})
