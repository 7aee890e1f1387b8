/**
 * The write-ahead log of a database file. A commit writes and syncs it alone; copying its pages into the file (SQLite's
 * checkpoint) takes tens of milliseconds, so another connection does that bit by bit, in a thread that nobody waits for.
 * What is left to the writer is short: to begin the write-ahead log anew when it is long and nearly all of it is copied.
 */
import Database from 'better-sqlite3'

/** Pages of 4 KiB that are copied at once: 8 MiB. Few, since a large sync would hold up those of the log's commits. */
const COPIED_AT_ONCE = 2_000
/** A restart that failed waits for so many more. */
const UNTIL_NEXT_TRY = 1_000
/** 64 MiB. */
const LONG = 16_000
/** What the writer copies itself, before it begins anew: more than the largest commits write, since it looks after one. */
const REST_MAX = 1_000
/** How long the copier waits for a lock. Nobody waits for the copier. */
const COPIER_WAIT_MS = 250
/** Where nobody copies (a command of the command line): SQLite does it in the commit that comes to so many. */
const UNATTENDED = 32_000

/** Of the write-ahead log, or -1 when there is none. */
type Frames = { readonly busy: 0 | 1; readonly log: number; readonly checkpointed: number }

/** Turns the write-ahead log on. */
export function useWal(db: Database.Database): void {
  db.pragma('journal_mode = WAL')
  db.pragma(`wal_autocheckpoint = ${UNATTENDED}`)
}

/** For the file's writer, to be called between commits. What fails here fails the next commit, which says so. */
export function createRestart(db: Database.Database): () => void {
  const look = db.prepare<[], Frames>('PRAGMA wal_checkpoint(NOOP)')
  const restart = db.prepare<[], Frames>('PRAGMA wal_checkpoint(RESTART)')
  let long = LONG
  return () => {
    try {
      const { log, checkpointed } = look.get() ?? { log: -1, checkpointed: -1 }
      if (log < LONG) long = LONG
      if (log < long || log - checkpointed > REST_MAX) return
      // A reader that is in the way may be gone a little later.
      if (restart.get()?.busy) long = log + UNTIL_NEXT_TRY
    } catch {
      long += UNTIL_NEXT_TRY
    }
  }
}

export type Copier = {
  /** Copies what there is, when it is enough to be worth a sync. Throws what SQLite says. */
  copy(): void
  close(): void
}

/** A connection to an existing file that only copies. */
export function openCopier(file: string): Copier {
  const db = new Database(file, { fileMustExist: true, timeout: COPIER_WAIT_MS })
  const look = db.prepare<[], Frames>('PRAGMA wal_checkpoint(NOOP)')
  const copy = db.prepare<[], Frames>('PRAGMA wal_checkpoint(PASSIVE)')
  return {
    copy() {
      const { log, checkpointed } = look.get() ?? { log: -1, checkpointed: -1 }
      const rest = log - checkpointed
      // A long one begins anew when no more than that is left.
      if (rest >= COPIED_AT_ONCE || (log >= LONG && rest > REST_MAX)) copy.get()
    },
    close: () => void db.close()
  }
}
