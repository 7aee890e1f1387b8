/** The rows of a node's views, to hold them against another node's. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { projections } from '../../src/projections/all.ts'
import { readCheckpoints } from '../../src/projections/views-file.ts'

export type Dump = {
  /** The position that all views have passed. */
  readonly position: number
  /** Table → number of rows and their digest, in the order of the key. */
  readonly tables: Readonly<Record<string, string>>
}

/** Of a node that runs or has ended; the views must stand still meanwhile. */
export function dumpViews(dataDir: string): Dump {
  const db = new Database(join(dataDir, 'views.db'), { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    const tables: Record<string, string> = {}
    for (const { name, columns, keyLength } of projections.flatMap(projection => projection.tables)) {
      const key = Object.keys(columns).slice(0, keyLength).join(', ')
      const digest = createHash('sha256')
      let count = 0
      for (const row of db
        .prepare(`SELECT ${Object.keys(columns).join(', ')} FROM ${name} ORDER BY ${key}`)
        .iterate()) {
        digest.update(`${JSON.stringify(row)}\n`)
        count++
      }
      tables[name] = `${count} rows ${digest.digest('hex').slice(0, 16)}`
    }
    return { position: Math.min(...readCheckpoints(db).map(({ position }) => position)), tables }
  } finally {
    db.close()
  }
}

/** How far the views of a node are. */
export function viewsPosition(dataDir: string): number {
  const db = new Database(join(dataDir, 'views.db'), { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    return Math.min(...readCheckpoints(db).map(({ position }) => position))
  } finally {
    db.close()
  }
}
