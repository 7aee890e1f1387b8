/** Keys while no service runs: the storage is opened for a moment, with its lock and its writer; nothing listens. */
import { randomBytes } from 'node:crypto'
import { createAggregates } from '../actors/aggregates.ts'
import { systemClock } from '../actors/clock.ts'
import type { Core, Logger } from '../actors/core.ts'
import { createKeys, type Keys } from '../actors/keys.ts'
import { nactMailboxes } from '../actors/mailbox.ts'
import { createOwnWrites } from '../actors/own-writes.ts'
import type { Settings } from '../config/settings.ts'
import type { Views } from '../projections/port.ts'
import { openStorage, type Storage } from '../service/storage.ts'
import { CommandFailed } from './exit.ts'

const CATCH_UP_STEP_MS = 1_000
/** What goes wrong comes back as an error of the command. */
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/**
 * Runs `work` with the keys, and with views that are up to date where it asks them: on a long log and in an empty DATA_DIR
 * that takes its time. Throws DataDirInUse when another process owns the DATA_DIR.
 */
export async function withKeys<T>(
  settings: Settings,
  asksViews: boolean,
  work: (keys: Keys, views: Views) => Promise<T>
): Promise<T> {
  // stdout belongs to the answer of the command.
  const onAnchor = (line: string): void => void process.stderr.write(`${line}\n`)
  const storage = await openStorage(settings, { logger: silent, onAnchor })
  const { keys, stop } = assemble(settings, storage)
  try {
    if (asksViews) await caughtUp(storage)
    return await work(keys, storage.views)
  } finally {
    await stop()
    await storage.close()
  }
}

function assemble(settings: Settings, { log, keyring, views }: Storage): { keys: Keys; stop(): Promise<void> } {
  const own = createOwnWrites(views)
  const mailboxes = nactMailboxes(() => undefined)
  const common = { log, keyring, clock: systemClock, mailboxes, shared: settings.storage.eventStoreUrl !== null }
  const aggregates = createAggregates({ ...common, onAppended: own.wrote, onCrash: () => undefined })
  const processId = `${settings.nodeId}.${process.pid}.${randomBytes(6).toString('hex')}`
  const core: Core = {
    log,
    keyring,
    views,
    aggregates,
    own,
    clock: systemClock,
    logger: silent,
    works: () => false,
    workedShards: () => [],
    processId
  }
  return {
    keys: createKeys(core),
    async stop() {
      await aggregates.stop()
      mailboxes.stop()
    }
  }
}

async function caughtUp({ log, views, trouble }: Storage): Promise<void> {
  const head = await log.head()
  while (!(await views.caughtUp(head, CATCH_UP_STEP_MS))) {
    const reason = trouble()
    if (reason !== null) throw new CommandFailed(reason)
  }
}
