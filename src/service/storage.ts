/** Opens what lasts: the event log, its keys and its views. Everything that is wrong with them stops the start in one sentence. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '../actors/core.ts'
import type { Settings } from '../config/settings.ts'
import type { Keyring } from '../log/keyring.ts'
import { type AnchorKey, anchorKey } from '../log/keys/anchor-key.ts'
import type { MasterKey } from '../log/keys/master-key.ts'
import type { EventLog } from '../log/port.ts'
import { type OpenedViews, openViews } from '../projections/open-views.ts'
import type { BatchThreadData, LogDoor } from './batch-protocol.ts'
import { openEmbeddedLog } from './embedded-storage.ts'
import { openEventStore } from './eventstore-storage.ts'
import { type MasterKeys, mastersOf, openKeyring } from './open-keyring.ts'
import { startWalThread } from './wal-host.ts'
import type { WorkerHost } from './worker-host.ts'

export type Storage = {
  readonly log: EventLog
  readonly keyring: Keyring
  readonly views: OpenedViews
  readonly master: MasterKey
  readonly anchors: AnchorKey
  /** Null: the log sees to its anchors itself. */
  readonly anchorDuty: AnchorDuty | null
  /** What one more thread needs to reach all of it. */
  readonly batchThread: BatchThreadData
  /** Null while all is well; else what is broken and will not mend itself, for the operator. */
  trouble(): string | null
  /** Null while the log can be reached; else what is missing. It is tried again all the time. */
  outage(): string | null
  close(): Promise<void>
}

/** A log home, opened, with the thread whose projections follow it. */
export type OpenLog = {
  readonly log: EventLog
  readonly worker: WorkerHost
  readonly masterKey: Buffer
  /** For the thread of the batches. */
  readonly batchDoor: LogDoor
  outage(): string | null
  /** The database file of the embedded log. */
  readonly logFiles: readonly string[]
  /** Anchors are written from now on, signed with this key; or, where nodes take turns, when the duty begins. */
  anchorWith(privateKey: string): AnchorDuty | null
  close(): Promise<void>
}

/** Writing the log's anchors: one node's at a time. */
export type AnchorDuty = {
  begin(): Promise<void>
  /** Anchors what the node has followed so far. */
  end(): Promise<void>
}

/** A start that cannot go on: the message is for the operator, no stack needed. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused'
}

export const viewsFile = (dataDir: string): string => join(dataDir, 'views.db')

export type StorageOptions = {
  readonly logger: Logger
  /** Each new anchor as a line of JSON: a copy that lives elsewhere. */
  readonly onAnchor: (line: string) => void
}

export async function openStorage(settings: Settings, { logger, onAnchor }: StorageOptions): Promise<Storage> {
  const { anchorFile, eventStoreUrl } = settings.storage
  const opened = await (eventStoreUrl === null ? openEmbeddedLog : openEventStore)(settings, {
    logger,
    onAnchor(line) {
      onAnchor(line)
      if (anchorFile) appendFileSync(anchorFile, `${line}\n`)
    }
  })
  try {
    return await complete(opened, settings, logger)
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Keys and views of a log that is open. */
async function complete(opened: OpenLog, settings: Settings, logger: Logger): Promise<Storage> {
  const { log, worker } = opened
  const file = viewsFile(settings.storage.dataDir)
  const views = openViews({
    file,
    messageNoOf: id => log.numberOf(`message-${id}`)
  })
  worker.onPage(views.pageDone)
  const masterKeys = masterKeysOf(opened.masterKey, settings.keys.masterKeyPrevious)
  const masters = mastersOf(masterKeys)
  const anchors = await anchorKey(log, masters, new Date().toISOString())
  if (!anchors) throw new StartRefused('MASTER_KEY does not open this event log')
  const anchorDuty = opened.anchorWith(anchors.privateKey)
  const wal = startWalThread({ files: [...opened.logFiles, file] }, logger)
  return {
    log,
    keyring: openKeyring(log, views, masters),
    views,
    master: masters[0],
    anchors,
    anchorDuty,
    batchThread: { log: opened.batchDoor, viewsFile: file, masterKeys },
    trouble: worker.trouble,
    outage: opened.outage,
    async close() {
      await wal.stop()
      await opened.close()
      views.close()
    }
  }
}

const masterKeysOf = (current: Buffer, previous: Buffer | null): MasterKeys =>
  previous ? [current, previous] : [current]
