import type { Connection } from './connection.ts'
import { failureOf } from './errors.ts'

/** Its metadata hold the id; it never has events, so that followers see nothing of it. */
const STREAM = 'ledgerline-log'
const KEY = 'ledgerlineLogId'

/** The random id of the log behind a prefix: views and numbers of another log are thrown away by it. Made once. */
export async function logIdOf(connection: Connection, newId: () => string): Promise<string> {
  for (;;) {
    const { metadata, revision } = await connection.metadata(STREAM)
    const found = metadata[KEY]
    if (typeof found === 'string') return found
    try {
      await connection.setMetadata(STREAM, { ...metadata, [KEY]: newId() }, revision)
    } catch (error) {
      // Another node was faster: its id is the log's.
      if (failureOf(error).kind !== 'conflict') throw error
    }
  }
}
