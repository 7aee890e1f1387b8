import { openMemoryLog } from '../../src/log/sqlite/local.ts'
import { openThreadedLog } from '../support/log.ts'
import { contract } from './contract.ts'

contract('in memory', async t => {
  const log = openMemoryLog()
  t.teardown(() => log.close())
  return log
})

contract('SQLite, with its worker thread', t => openThreadedLog(t))
