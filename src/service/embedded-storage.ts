/** The embedded log: one process owns the DATA_DIR; the writer and the projections have a thread each. */
import { existsSync } from 'node:fs'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { Settings } from '../config/settings.ts'
import { findMasterKey } from '../log/keys/master-key.ts'
import { openSqliteLog } from '../log/sqlite/home.ts'
import { lockDataDir } from '../log/sqlite/lock.ts'
import { logFile } from '../log/sqlite/schema.ts'
import { type OpenLog, StartRefused, type StorageOptions, viewsFile } from './storage.ts'
import { startWorker } from './worker-host.ts'
import type { LogWorkerData } from './worker-protocol.ts'
import { YOUNG_GENERATION } from './young-generation.ts'

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
  const growth = new MessageChannel()
  const batches = new MessageChannel()
  const writer = startLogWorker({ dataDir, grown: growth.port1, appenders: [batches.port1] })
  let outage: string | null = null
  writer.once('error', error => {
    outage = `the thread of the event log has ended: ${error.message}`
  })
  const log = await openSqliteLog({ dataDir, worker: writer, onAnchor: options.onAnchor })
  const worker = startWorker({ home: 'embedded', dataDir, viewsFile: viewsFile(dataDir), grown: growth.port2 }, options)
  await worker.ready
  return {
    log,
    worker,
    outage: () => outage,
    logFiles: [logFile(dataDir)],
    masterKey: key,
    batchDoor: { home: 'embedded', dataDir, writer: batches.port2 },
    anchorWith(privateKey) {
      log.anchorWith(privateKey)
      return null
    },
    async close() {
      await worker.stop()
      await log.close()
      await writer.terminate()
      lock.release()
    }
  }
}

function startLogWorker(workerData: LogWorkerData): Worker {
  const script = new URL('./log-worker.js', import.meta.url)
  const transferList = [workerData.grown, ...workerData.appenders]
  return new Worker(script, { workerData, transferList, resourceLimits: YOUNG_GENERATION })
}
