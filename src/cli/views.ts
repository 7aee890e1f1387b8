/** `ledgerline views …`: how far the views are, and filling them anew. */
import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { refuseUnknown } from '../log/event-versions.ts'
import { lockDataDir } from '../log/sqlite/lock.ts'
import { readLogId } from '../log/sqlite/log-id.ts'
import { createReader, type Reader } from '../log/sqlite/reader.ts'
import { logFile, openForReading, storedVersions } from '../log/sqlite/schema.ts'
import { projections } from '../projections/all.ts'
import { rebuild } from '../projections/rebuild.ts'
import { type Checkpoint, readCheckpoints } from '../projections/views-file.ts'
import { viewsFile } from '../service/storage.ts'
import { CommandFailed } from './exit.ts'
import { printJson, printTable } from './output.ts'
import { createProgress } from './progress.ts'
import { embeddedSettings } from './settings.ts'

export type ViewsOptions = { readonly json?: true }
type Status = { readonly name: string; readonly version: number; readonly position: number; readonly state: string }

/** A service that writes a page holds the file for a moment. */
const LOCK_WAIT_MS = 1_000

export async function viewsStatus({ json }: ViewsOptions): Promise<void> {
  const { dataDir } = embeddedSettings().storage
  // The views first: a log that grows meanwhile can only make them look older than they are.
  const checkpoints = storedCheckpoints(dataDir)
  const head = await withReader(dataDir, async reader => reader.head())
  const views = projections.map(({ name, version }) => statusOf(name, version, checkpoints, head))
  if (json) return printJson({ head, views })
  process.stdout.write(`The log ends at position ${head}.\n`)
  const rows = views.map(view => [view.name, String(view.version), String(view.position), view.state])
  printTable([['VIEW', 'VERSION', 'POSITION', 'STATE'], ...rows])
}

export async function rebuildViews({ json }: ViewsOptions): Promise<void> {
  const { dataDir } = embeddedSettings().storage
  if (!existsSync(logFile(dataDir))) throw new CommandFailed(`there is no event log in ${dataDir}`)
  const lock = lockDataDir(dataDir)
  const startedAt = performance.now()
  try {
    const { events, position } = await withReader(dataDir, async (reader, db) => {
      refuseUnknown(storedVersions(db))
      const progress = createProgress({ label: 'rebuilding', total: reader.head() })
      return rebuild({
        file: viewsFile(dataDir),
        logId: readLogId(dataDir),
        projections,
        readPage: reader.page,
        onProgress: done => progress.at(done.position)
      }).finally(progress.end)
    })
    const seconds = Math.round(performance.now() - startedAt) / 1000
    if (json) printJson({ events, position, views: projections.length, seconds })
    else process.stdout.write(`${projections.length} views rebuilt from ${events} events in ${seconds} s\n`)
  } finally {
    lock.release()
  }
}

async function withReader<T>(dataDir: string, work: (reader: Reader, db: Database.Database) => Promise<T>): Promise<T> {
  if (!existsSync(logFile(dataDir))) throw new CommandFailed(`there is no event log in ${dataDir}`)
  const db = openForReading(logFile(dataDir))
  try {
    return await work(createReader(db), db)
  } finally {
    db.close()
  }
}

/** Nothing when there is no file, or one that was filled from another log. */
function storedCheckpoints(dataDir: string): readonly Checkpoint[] {
  const file = viewsFile(dataDir)
  if (!existsSync(file)) return []
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: LOCK_WAIT_MS })
  try {
    const logId = db.prepare<[], string>('SELECT logId FROM views').pluck().get()
    return logId === readLogId(dataDir) ? readCheckpoints(db) : []
  } finally {
    db.close()
  }
}

function statusOf(name: string, version: number, checkpoints: readonly Checkpoint[], head: number): Status {
  const stored = checkpoints.find(checkpoint => checkpoint.name === name)
  if (!stored) return { name, version, position: 0, state: 'missing; filled at the next start' }
  const { position } = stored
  if (stored.version !== version)
    return { name, version, position, state: `of version ${stored.version}; filled anew at the next start` }
  const behind = Math.max(0, head - position)
  return { name, version, position, state: behind === 0 ? 'up to date' : `${behind} behind` }
}
