/** Opens what lasts: the event log, its keys and its views. Everything that is wrong with them stops the start in one sentence. */
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Logger } from '../actors/core.ts'
import type { Settings } from '../config/settings.ts'
import { createKeyring, type Keyring } from '../log/keyring.ts'
import { type AnchorKey, anchorKey } from '../log/keys/anchor-key.ts'
import { findMasterKey, type MasterKey, masterKey } from '../log/keys/master-key.ts'
import type { EventLog } from '../log/port.ts'
import { openSqliteLog } from '../log/sqlite/home.ts'
import { lockDataDir } from '../log/sqlite/lock.ts'
import { logFile } from '../log/sqlite/schema.ts'
import { type OpenedViews, openViews } from '../projections/open-views.ts'
import type { PageDone } from '../projections/port.ts'
import { isWorkerMessage, type WorkerData } from './worker-protocol.ts'

export type Storage = {
  readonly log: EventLog
  readonly keyring: Keyring
  readonly views: OpenedViews
  readonly master: MasterKey
  readonly anchors: AnchorKey
  /** Null while all is well; else what the operator must know. */
  trouble(): string | null
  close(): Promise<void>
}

/** A start that cannot go on: the message is for the operator, no stack needed. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused'
}

/** Room of the young generation, so that what one request leaves behind dies young. */
const YOUNG_GENERATION_MB = 64

export const viewsFile = (dataDir: string): string => join(dataDir, 'views.db')

export type StorageOptions = {
  readonly logger: Logger
  /** Each new anchor as a line of JSON: a copy that lives elsewhere. */
  readonly onAnchor: (line: string) => void
}

export async function openStorage(settings: Settings, { logger, onAnchor }: StorageOptions): Promise<Storage> {
  const { dataDir, anchorFile } = settings.storage
  const lock = lockDataDir(dataDir)
  const masters = mastersOf(settings)
  const data: WorkerData = { dataDir, viewsFile: viewsFile(dataDir) }
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    workerData: data,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB }
  })
  let trouble: string | null = null
  let views: OpenedViews | null = null
  const early: PageDone[] = []
  const ready = new Promise<void>((resolve, reject) => {
    worker.on('message', (message: unknown) => {
      if (!isWorkerMessage(message)) return
      if (message.kind === 'views:ready') resolve()
      else if (message.kind === 'views:page') views ? views.pageDone(message.done) : early.push(message.done)
      else {
        trouble = `views stand still: ${message.reason}`
        logger.error({ reason: message.reason }, 'a projection failed; reads are stale until it is mended')
        reject(new StartRefused(trouble))
      }
    })
    worker.on('error', error => {
      trouble = `the log thread ended: ${error.message}`
      logger.error({ err: error }, 'the log thread ended')
      reject(error)
    })
  })
  ready.catch(() => undefined)
  const log = await openSqliteLog({
    dataDir,
    worker,
    onAnchor(line) {
      onAnchor(line)
      if (anchorFile) appendFileSync(anchorFile, `${line}\n`)
    }
  })
  await ready
  const opened = openViews({ file: viewsFile(dataDir), messageNoOf: id => log.numberOf(`message-${id}`) })
  views = opened
  for (const done of early) opened.pageDone(done)
  const anchors = await anchorKey(log, masters, new Date().toISOString())
  if (!anchors) throw new StartRefused(`MASTER_KEY does not open the event log in ${dataDir}`)
  log.anchorWith(anchors.privateKey)
  const keyring = createKeyring({
    log,
    masters,
    async contactStream(contactId) {
      const known = opened.contactStream(contactId)
      if (known !== null) return known
      await opened.caughtUp(await log.head())
      return opened.contactStream(contactId)
    }
  })
  return {
    log,
    keyring,
    views: opened,
    master: masters[0],
    anchors,
    trouble: () => trouble,
    async close() {
      await log.close()
      opened.close()
      await worker.terminate()
      lock.release()
    }
  }
}

function mastersOf(settings: Settings): readonly [MasterKey, ...MasterKey[]] {
  const { dataDir } = settings.storage
  const { masterKey: configured, masterKeyPrevious } = settings.keys
  const current = findMasterKey({
    dataDir,
    configured: configured?.toString('base64') ?? null,
    logExists: existsSync(logFile(dataDir))
  })
  if (!current)
    throw new StartRefused(`${dataDir} holds an event log, but neither MASTER_KEY nor ${dataDir}/master.key opens it`)
  return masterKeyPrevious ? [masterKey(current), masterKey(masterKeyPrevious)] : [masterKey(current)]
}
