/** A log that a newer program has written to: it is not served, and says what it holds; it can still be proved and exported. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { openEventStoreLog } from '../../src/log/eventstore/home.ts'
import { NO_STREAM } from '../../src/log/port.ts'
import { openWriter } from '../../src/log/sqlite/writer.ts'
import { doubleFor } from '../support/eventstore/logs.ts'
import { event } from '../support/log.ts'
import { type Place, place } from './command-line.ts'

/** Of a type that views read, in a version to come; and one of a type to come, which they would pass over. */
const newer = { ...event('newer'), type: 'MessageSent', body: '{"v":7,"data":{}}' }
const unheardOf = { ...event('unheard-of'), type: 'MessageTranslated' }

/** Makes the views say that they have read everything. */
function passEverything(dataDir: string): void {
  const db = new Database(join(dataDir, 'views.db'))
  db.exec('UPDATE checkpoints SET position = 1000000')
  db.close()
}

async function newLog(t: Parameters<typeof place>[0]): Promise<Place> {
  const here = place(t)
  if ((await here.run('keys', 'create', '--tenant', 'acme')).code !== 0) throw new Error('no log was made')
  return here
}

function write(dataDir: string, stream: string, written: typeof newer): void {
  const writer = openWriter({ file: join(dataDir, 'log.db') })
  writer.commit([{ stream, expected: NO_STREAM, events: [written] }])
  writer.close()
}

for (const [name, written, said] of [
  [
    'a version to come',
    newer,
    /cannot start: the log holds version 7 of MessageSent, which this program does not know\n/
  ],
  ['a type to come', unheardOf, /cannot start: the log holds version 1 of MessageTranslated, which/]
] as const)
  t.test(`${name} stops the start, although the views have passed it`, async t => {
    const here = await newLog(t)
    write(here.dataDir, 'message-msg_new', written)
    passEverything(here.dataDir)
    t.match(await here.run('serve'), { code: 1, stderr: said })
    const reason = /^ledgerline: the log holds version/
    t.match(await here.run('keys', 'create', '--tenant', 'acme'), { code: 1, stdout: '', stderr: reason })
    t.match(await here.run('views', 'rebuild'), { code: 1, stdout: '', stderr: reason })
    t.match(await here.run('log', 'verify'), { code: 0, stdout: /^intact/ })
    t.match((await here.run('log', 'export', '--type', written.type)).stdout, /"evt_/)
  })

t.test('a log from before the list was kept is listed at its next start', async t => {
  const here = await newLog(t)
  write(here.dataDir, 'message-msg_new', unheardOf)
  const db = new Database(join(here.dataDir, 'log.db'))
  db.exec('DROP TABLE event_versions')
  db.close()
  t.match(await here.run('serve'), { code: 1, stderr: /version 1 of MessageTranslated/ })
})

t.test('on EventStoreDB a node with no views of its own sees it as well', async t => {
  const double = await doubleFor(t)
  const here = place(t, {
    EVENTSTORE_URL: double.url,
    SINGLE_NODE: 'true',
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64')
  })
  const log = await openEventStoreLog({ url: double.url })
  await log.append('message-msg_new', NO_STREAM, [newer])
  await log.close()
  t.match(await here.run('serve'), { code: 1, stderr: /cannot start: the log holds version 7 of MessageSent/ })
})
