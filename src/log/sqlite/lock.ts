import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { unavailable } from './schema.ts'

/** Another process serves this DATA_DIR. The message names the directory. */
export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse'
}

export type DataDirLock = { release(): void }

/**
 * Makes this process the one owner of the directory, and creates it where it is missing. The lock is the file lock of
 * an open SQLite transaction: the operating system takes it back however the process ends. Throws DataDirInUse, or
 * LogUnavailable when the directory cannot be used.
 */
export function lockDataDir(dataDir: string): DataDirLock {
  const file = join(dataDir, 'lock.db')
  let db: Database.Database | undefined
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    db = new Database(file, { timeout: 0 })
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db?.close()
    if (isBusy(error)) throw new DataDirInUse(`another process is using the data directory ${dataDir}`)
    throw unavailable(error, file)
  }
  const held = db
  locks.add(held)
  return {
    release() {
      locks.delete(held)
      held.close()
    }
  }
}

/** A connection that nobody holds on to is collected, and its lock with it. */
const locks = new Set<Database.Database>()

const isBusy = (error: unknown): boolean => error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY'
