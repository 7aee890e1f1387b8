/** `ledgerline views …`: how far the views are, and filling them anew. */
import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { refuseUnknown } from '../log/event-versions.ts'
import { lockDataDir } from '../log/sqlite/lock.ts'
import { projections } from '../projections/all.ts'
import { rebuild } from '../projections/rebuild.ts'
import { type Checkpoint, readCheckpoints } from '../projections/views-file.ts'
import { viewsFile } from '../service/storage.ts'
import { printJson, printTable } from './output.ts'
import { createProgress } from './progress.ts'
import { openViewedLog, requireLogFile, type ViewedLog } from './read-log.ts'
import { settingsOrExit } from './settings.ts'

export type ViewsOptions = { readonly json?: true }
type Status = { readonly name: string; readonly version: number; readonly position: number; readonly state: string }

/** A service that writes a page holds the file for a moment. */
const LOCK_WAIT_MS = 1_000

export async function viewsStatus({ json }: ViewsOptions): Promise<void> {
  const { storage } = settingsOrExit('read')
  const { head, views } = await withLog(storage, { fills: false }, async log => {
    // The views first: a log that grows meanwhile can only make them look older than they are.
    const checkpoints = storedCheckpoints(storage.dataDir, log.id)
    const end = await log.head()
    return { head: end, views: projections.map(view => statusOf(view, checkpoints, end, log.dense)) }
  })
  if (json) return printJson({ head, views })
  process.stdout.write(`The log ends at position ${head}.\n`)
  const rows = views.map(view => [view.name, String(view.version), String(view.position), view.state])
  printTable([['VIEW', 'VERSION', 'POSITION', 'STATE'], ...rows])
}

export async function rebuildViews({ json }: ViewsOptions): Promise<void> {
  const { storage } = settingsOrExit('read')
  const { dataDir } = storage
  if (storage.eventStoreUrl === null) requireLogFile(dataDir)
  const lock = lockDataDir(dataDir)
  const startedAt = performance.now()
  try {
    const { events, position } = await withLog(storage, { fills: true }, async log => {
      refuseUnknown(log.versions)
      const progress = createProgress({ label: 'rebuilding', total: log.dense ? await log.head() : null })
      return rebuild({
        file: viewsFile(dataDir),
        logId: log.id,
        projections,
        readPage: log.readPage,
        onProgress: done => progress.at(log.dense ? done.position : done.events)
      }).finally(progress.end)
    })
    const seconds = Math.round(performance.now() - startedAt) / 1000
    if (json) printJson({ events, position, views: projections.length, seconds })
    else process.stdout.write(`${projections.length} views rebuilt from ${events} events in ${seconds} s\n`)
  } finally {
    lock.release()
  }
}

async function withLog<T>(
  storage: Parameters<typeof openViewedLog>[0],
  options: Parameters<typeof openViewedLog>[1],
  work: (log: ViewedLog) => Promise<T>
): Promise<T> {
  const log = await openViewedLog(storage, options)
  try {
    return await work(log)
  } finally {
    await log.close()
  }
}

/** Nothing when there is no file, or one that was filled from another log. */
function storedCheckpoints(dataDir: string, logId: string): readonly Checkpoint[] {
  const file = viewsFile(dataDir)
  if (!existsSync(file)) return []
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: LOCK_WAIT_MS })
  try {
    return db.prepare<[], string>('SELECT logId FROM views').pluck().get() === logId ? readCheckpoints(db) : []
  } finally {
    db.close()
  }
}

function statusOf(
  { name, version }: Pick<Checkpoint, 'name' | 'version'>,
  checkpoints: readonly Checkpoint[],
  head: number,
  dense: boolean
): Status {
  const stored = checkpoints.find(checkpoint => checkpoint.name === name)
  if (!stored) return { name, version, position: 0, state: 'missing; filled at the next start' }
  const { position } = stored
  if (stored.version !== version)
    return { name, version, position, state: `of version ${stored.version}; filled anew at the next start` }
  const behind = Math.max(0, head - position)
  return { name, version, position, state: behind === 0 ? 'up to date' : dense ? `${behind} behind` : 'behind' }
}
