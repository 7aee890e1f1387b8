/** When the thread of the batches cannot work, nobody waits for it. */
import { join } from 'node:path'
import t from 'tap'
import { startBatchThread } from '../../src/service/batch-host.ts'
import { freePort } from '../support/http.ts'
import { temporaryDirectory } from '../support/log.ts'

t.test('a thread that has ended: batches fail, erasures go on, and the node says so', async t => {
  const directory = temporaryDirectory(t)
  const told: string[] = []
  const note = (_fields: object, message: string): void => void told.push(message)
  const logger = { debug: note, info: note, warn: note, error: note }
  const url = `esdb://127.0.0.1:${await freePort()}?tls=false`
  const log = { home: 'eventstore', url, streamPrefix: '', numbersFile: join(directory, 'numbers.db') } as const
  const viewsFile = join(directory, 'views.db')
  const batches = startBatchThread({ log, viewsFile, masterKeys: [new Uint8Array(32)] }, logger)
  const sender = { tenantId: 'tn_1', trace: 'tr_1' }
  const early = batches.work(sender, 'ch_1', Buffer.from('{}'))
  const leaving = batches.letGo('ct_1')
  t.equal(batches.trouble(), null)
  await t.rejects(batches.ready, /the thread of the batches has ended/)
  await t.rejects(early, /the thread of the batches has ended/)
  await leaving
  t.match(batches.trouble(), /the thread of the batches has ended/)
  t.match(told, ['the thread of the batches has ended'])
  await t.rejects(batches.work(sender, 'ch_1', Buffer.from('{}')), /the thread of the batches has ended/)
  await batches.letGo('ct_1')
  await batches.stop()
})
