/** EventStoreDB as the log: any number of nodes; each keeps its own views under its DATA_DIR, fed by a worker thread. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../config/settings.ts'
import { refuseUnknown } from '../log/event-versions.ts'
import { BATCH_APPENDS_AT_ONCE, MAX_APPENDS_AT_ONCE, openEventStoreLog } from '../log/eventstore/home.ts'
import { lockDataDir } from '../log/sqlite/lock.ts'
import { type OpenLog, StartRefused, type StorageOptions, viewsFile } from './storage.ts'
import { startWorker } from './worker-host.ts'

export async function openEventStore(settings: Settings, options: StorageOptions): Promise<OpenLog> {
  const { dataDir, eventStoreUrl, eventStoreStreamPrefix } = settings.storage
  if (eventStoreUrl === null || settings.keys.masterKey === null)
    throw new StartRefused('EVENTSTORE_URL and MASTER_KEY are needed for EventStoreDB')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const lock = lockDataDir(dataDir)
  const home = { url: eventStoreUrl, streamPrefix: eventStoreStreamPrefix, numbersFile: join(dataDir, 'numbers.db') }
  const log = await openEventStoreLog({
    ...home,
    appendsAtOnce: MAX_APPENDS_AT_ONCE - BATCH_APPENDS_AT_ONCE,
    onProblem: error => options.logger.warn({ err: error }, 'EventStoreDB: tried again')
  })
  refuseUnknown(log.versions)
  const worker = startWorker({ home: 'eventstore', ...home, viewsFile: viewsFile(dataDir) }, options)
  await worker.ready
  return {
    log,
    worker,
    outage: log.watch().trouble,
    logFiles: [],
    masterKey: settings.keys.masterKey,
    batchDoor: { home: 'eventstore', ...home },
    // Anchors have one writer; which node that is, the leases decide.
    anchorWith: privateKey => ({
      begin: () => worker.anchors({ kind: 'anchors:begin', privateKey }),
      end: () => worker.anchors({ kind: 'anchors:end' })
    }),
    async close() {
      await worker.stop()
      await log.close()
      lock.release()
    }
  }
}
