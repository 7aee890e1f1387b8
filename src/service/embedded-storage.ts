/** The embedded log: one process owns the DATA_DIR; writer and projections live in a worker thread. */
import { existsSync } from 'node:fs'
import type { Settings } from '../config/settings.ts'
import { findMasterKey } from '../log/keys/master-key.ts'
import { openSqliteLog } from '../log/sqlite/home.ts'
import { lockDataDir } from '../log/sqlite/lock.ts'
import { logFile } from '../log/sqlite/schema.ts'
import { type OpenLog, StartRefused, type StorageOptions, viewsFile } from './storage.ts'
import { startWorker } from './worker-host.ts'

export async function openEmbeddedLog(settings: Settings, options: StorageOptions): Promise<OpenLog> {
  const { dataDir } = settings.storage
  const lock = lockDataDir(dataDir)
  const key = findMasterKey({
    dataDir,
    configured: settings.keys.masterKey?.toString('base64') ?? null,
    logExists: existsSync(logFile(dataDir))
  })
  if (!key)
    throw new StartRefused(`${dataDir} holds an event log, but neither MASTER_KEY nor ${dataDir}/master.key opens it`)
  const worker = startWorker({ home: 'embedded', dataDir, viewsFile: viewsFile(dataDir) }, options)
  const log = await openSqliteLog({ dataDir, worker: worker.thread, onAnchor: options.onAnchor })
  await worker.ready
  return {
    log,
    worker,
    outage: () => null,
    masterKey: key,
    anchorWith(privateKey) {
      log.anchorWith(privateKey)
      return null
    },
    async close() {
      await log.close()
      await worker.thread.terminate()
      lock.release()
    }
  }
}
