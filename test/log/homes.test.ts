import type { EventLog } from '../../src/log/port.ts'
import { openMemoryLog } from '../../src/log/sqlite/local.ts'
import { openThreadedLog } from '../support/log.ts'
import type { Open } from './contract.ts'
import { contract } from './contract.ts'

const traits = { keepsArrivalOrder: true, tellsPositionsInStreams: true }

async function inMemory(t: Parameters<Open>[0]): Promise<EventLog> {
  const log = openMemoryLog()
  t.teardown(() => log.close())
  return log
}

contract('in memory', inMemory, traits)

contract('SQLite, with its worker thread', t => openThreadedLog(t), traits)
