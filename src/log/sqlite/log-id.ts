import { logFile, openForReading } from './schema.ts'

/** The random id of the log of a DATA_DIR: views of another log are thrown away by it. */
export function readLogId(dataDir: string): string {
  const db = openForReading(logFile(dataDir))
  try {
    return (db.prepare('SELECT id FROM log').get() as { id: string }).id
  } finally {
    db.close()
  }
}
