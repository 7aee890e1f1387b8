/** Opens a log, appends, follows, closes it, and must then end by itself. */
import { openEventStoreLog } from '../../../src/log/eventstore/home.ts'
import { NO_STREAM } from '../../../src/log/port.ts'
import { event } from '../log.ts'

const log = await openEventStoreLog({ url: process.argv[2] ?? '', streamPrefix: 'exit-' })
log.follow(0, () => undefined)
await log.append('s', NO_STREAM, [event('a')])
await log.close()
process.stdout.write('closed\n')
