import type { Clock } from '../clock.ts'
import { systemClock } from '../clock.ts'
import type { EventLog } from '../port.ts'
import { LogUnavailable } from '../port.ts'
import { createEventLog } from './event-log.ts'
import type { Signal } from './follower.ts'
import { createSignal } from './follower.ts'
import type { Port } from './protocol.ts'
import { createReader } from './reader.ts'
import { logFile, openForReading } from './schema.ts'
import { connectWriter } from './writer-client.ts'

/** How often a read-only log looks for what another process has written. */
const LOOK_MS = 250

type Common = {
  readonly dataDir: string
  readonly clock?: Clock
  /** Hears of a page that a follower could not read or handle, and of an anchor not written; both are tried again. */
  readonly onProblem?: (error: unknown) => void
}

export type SqliteLogOptions = Common & {
  /** The port whose other end `createLogThread` has. */
  readonly worker: Port
  /** Each new anchor as a line of JSON, for stdout and ANCHOR_FILE. */
  readonly onAnchor?: (line: string) => void
}

export type SqliteLog = EventLog & {
  /** Writes anchors from now on, signed with this key (Ed25519, PKCS8 DER, base64). To be called once. */
  anchorWith(privateKey: string): void
}

/**
 * The embedded log as other threads see it: each reads by itself, and the log's thread writes. Take `lockDataDir` first.
 * Rejects with LogUnavailable when the worker cannot open the log.
 */
export async function openSqliteLog(options: SqliteLogOptions): Promise<SqliteLog> {
  const { dataDir, worker, clock = systemClock, onProblem = () => {}, onAnchor = () => {} } = options
  const grown = createSignal()
  const writer = connectWriter({ port: worker, onCommitted: () => grown.raise(), onAnchor, onProblem })
  await writer.ready
  const db = openForReading(logFile(dataDir))
  const log = createEventLog({
    reader: createReader(db),
    grown,
    clock,
    onProblem,
    append: writer.append,
    settled: writer.settled,
    erase: writer.erase,
    async close() {
      await writer.close()
      db.close()
    }
  })
  return { ...log, anchorWith: writer.anchorWith }
}

/** The log of a running or stopped service for programs that only read. Throws LogUnavailable when there is none. */
export function openSqliteLogReadOnly({ dataDir, clock = systemClock, onProblem = () => {} }: Common): EventLog {
  const db = openForReading(logFile(dataDir))
  const grown = createSignal()
  const stopLooking = lookRegularly(grown, clock)
  const refuse = async () => {
    throw new LogUnavailable('the event log was opened read-only')
  }
  return createEventLog({
    reader: createReader(db),
    grown,
    clock,
    onProblem,
    append: refuse,
    settled: async () => {},
    erase: refuse,
    async close() {
      stopLooking()
      db.close()
    }
  })
}

function lookRegularly(grown: Signal, clock: Clock): () => void {
  let cancel = () => {}
  const look = () => {
    cancel = clock.after(LOOK_MS, look)
    grown.raise()
  }
  look()
  return () => cancel()
}
