/** The log that the settings name, in either home, for commands that only read it: beside running services too. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../config/settings.ts'
import type { EventVersion } from '../log/event-versions.ts'
import { openEventStoreLog } from '../log/eventstore/home.ts'
import { openEventStoreVerifySource } from '../log/eventstore/verify-source.ts'
import type { EventLog } from '../log/port.ts'
import { openSqliteLogReadOnly } from '../log/sqlite/home.ts'
import { readLogId } from '../log/sqlite/log-id.ts'
import { createReader } from '../log/sqlite/reader.ts'
import { logFile, openForReading, storedVersions } from '../log/sqlite/schema.ts'
import { openVerifySource } from '../log/sqlite/verify-source.ts'
import type { VerifySource } from '../log/verify-source.ts'
import type { ReadPage } from '../projections/runner.ts'
import { CommandFailed } from './exit.ts'

/** A log as views are filled from it. */
export type ViewedLog = {
  readonly id: string
  readonly versions: readonly EventVersion[]
  /** Every position is used, so that their difference counts events. */
  readonly dense: boolean
  head(): Promise<number>
  readonly readPage: ReadPage
  close(): Promise<void>
}

type Place = Settings['storage']

/** Each of these throws in one line when there is no log, or it cannot be read. */
export async function openLogToRead(place: Place): Promise<EventLog> {
  if (place.eventStoreUrl !== null) return eventStoreLog(place, place.eventStoreUrl)
  requireLogFile(place.dataDir)
  return openSqliteLogReadOnly({ dataDir: place.dataDir })
}

/** Everything that stands in the log, as it is found. */
export async function openFoundEvents(place: Place): Promise<VerifySource> {
  const { eventStoreUrl: url, eventStoreStreamPrefix: streamPrefix } = place
  if (url === null) return openVerifySource(place.dataDir)
  // Why it cannot be reached, or that nothing is there, is no fault of the log.
  await (await eventStoreLog(place, url)).close()
  return openEventStoreVerifySource({ url, streamPrefix })
}

/** `fills`: the numbers of streams that are met are kept in DATA_DIR, which the caller has locked; else it is left alone. */
export async function openViewedLog(place: Place, { fills }: { readonly fills: boolean }): Promise<ViewedLog> {
  if (place.eventStoreUrl === null) return embeddedViewedLog(place.dataDir)
  const numbersFile = fills ? join(place.dataDir, 'numbers.db') : undefined
  return { ...(await eventStoreLog(place, place.eventStoreUrl, numbersFile)), dense: false }
}

const eventStoreLog = ({ eventStoreStreamPrefix: streamPrefix }: Place, url: string, numbersFile?: string) =>
  openEventStoreLog({ url, streamPrefix, readOnly: true, ...(numbersFile === undefined ? {} : { numbersFile }) })

function embeddedViewedLog(dataDir: string): ViewedLog {
  requireLogFile(dataDir)
  const db = openForReading(logFile(dataDir))
  const reader = createReader(db)
  return {
    id: readLogId(dataDir),
    versions: storedVersions(db),
    dense: true,
    head: async () => reader.head(),
    readPage: reader.page,
    async close() {
      db.close()
    }
  }
}

export function requireLogFile(dataDir: string): void {
  if (!existsSync(logFile(dataDir))) throw new CommandFailed(`there is no event log in ${dataDir}`)
}
