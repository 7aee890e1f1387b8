/** A process of its own that holds a data directory and appends to its log: `append DIR` or `hold DIR`. */
import { writeSync } from 'node:fs'
import { MessageChannel } from 'node:worker_threads'
import { openSqliteLog } from '../../src/log/sqlite/home.ts'
import { lockDataDir } from '../../src/log/sqlite/lock.ts'
import { event, startLogWorker } from './log.ts'

const APPENDERS = 20
const [, , task, dataDir = ''] = process.argv
const say = (line: string) => void writeSync(1, `${line}\n`)

async function appendForEver(): Promise<void> {
  const { port1, port2 } = new MessageChannel()
  startLogWorker().postMessage({ dataDir, port: port2 }, [port2])
  const log = await openSqliteLog({ dataDir, worker: port1 })
  const appender = async (name: string) => {
    for (let index = 0; ; index++) {
      const result = await log.append(name, index - 1, [event(`${name}-${index}`)])
      if (result.kind === 'appended') say(`${result.position} evt_${name}-${index}`)
    }
  }
  await Promise.all(Array.from({ length: APPENDERS }, (_, index) => appender(`s-${index}`)))
}

try {
  lockDataDir(dataDir)
  say('locked')
  if (task === 'append') await appendForEver()
  else setInterval(() => {}, 1_000)
} catch (error) {
  say(error instanceof Error ? `${error.name}: ${error.message}` : 'failed')
  process.exitCode = 1
}
