/**
 * What a log on EventStoreDB says of itself: its random id, and which events it holds. Both are metadata of a stream that
 * never has events, so that followers see nothing of it; its revision decides between nodes.
 */
import { z } from 'zod'
import { createVersionSet, type EventVersion, versionOf } from '../event-versions.ts'
import type { NewEvent } from '../port.ts'
import type { Connection } from './connection.ts'
import { failureOf } from './errors.ts'
import type { Budget } from './retry.ts'
import { repeatedly } from './retry.ts'

const STREAM = 'ledgerline-log'
const ID = 'ledgerlineLogId'
/** Type → versions. */
const VERSIONS = 'ledgerlineEventVersions'

const Versions = z.record(z.string(), z.array(z.int()))

export type LogNotes = { readonly id: string | null; readonly versions: readonly EventVersion[] }

/** What is noted now; no id: there is no log behind this prefix yet. */
export async function readNotes(connection: Connection): Promise<LogNotes> {
  const { metadata } = await connection.metadata(STREAM)
  const id = metadata[ID]
  return { id: typeof id === 'string' ? id : null, versions: versionsIn(metadata[VERSIONS]) }
}

const versionsIn = (noted: unknown): readonly EventVersion[] =>
  Object.entries(Versions.safeParse(noted).data ?? {}).flatMap(([type, versions]) =>
    versions.map(version => ({ type, version }))
  )

/** The random id of the log behind a prefix: views and numbers of another log are thrown away by it. Made once. */
export async function logIdOf(connection: Connection, newId: () => string): Promise<string> {
  for (;;) {
    const { metadata, revision } = await connection.metadata(STREAM)
    const found = metadata[ID]
    if (typeof found === 'string') return found
    await changed(() => connection.setMetadata(STREAM, { ...metadata, [ID]: newId() }, revision))
  }
}

/** False when another node was faster: what it wrote has to be read. */
async function changed(write: () => Promise<void>): Promise<boolean> {
  try {
    await write()
    return true
  } catch (error) {
    if (failureOf(error).kind !== 'conflict') throw error
    return false
  }
}

export type VersionNotes = {
  /** Nothing is left to note of these events: cheap enough to ask before every append. */
  isNoted(events: readonly NewEvent[]): boolean
  /** Resolves when their types and versions are noted, durably. Rejects with LogUnavailable. */
  note(events: readonly NewEvent[], budget: Budget): Promise<void>
}

/** `known`: as it was read at the start. Each kind is written once in the life of the log. */
export function createVersionNotes(connection: Connection, known: readonly EventVersion[]): VersionNotes {
  const noted = createVersionSet(known)
  let last: Promise<unknown> = Promise.resolve()

  const isNoted = (events: readonly NewEvent[]): boolean => events.every(event => noted.has(versionOf(event)))

  async function write(events: readonly NewEvent[], budget: Budget): Promise<void> {
    while (!isNoted(events)) {
      const { metadata, revision } = await repeatedly(budget, () => connection.metadata(STREAM))
      const held = createVersionSet(versionsIn(metadata[VERSIONS]))
      for (const event of events) held.add(versionOf(event))
      const next = { ...metadata, [VERSIONS]: asRecord(held.list()) }
      // Repeated after an answer that was lost, it meets its own work as a conflict, and finds it noted.
      const isWritten = await repeatedly(budget, () => changed(() => connection.setMetadata(STREAM, next, revision)))
      if (isWritten) for (const version of held.list()) noted.add(version)
    }
  }

  return {
    isNoted,
    async note(events, budget) {
      // One after the other: the first events of a new log all have something to note.
      const turn = last.then(() => write(events, budget))
      last = turn.catch(() => undefined)
      await turn
    }
  }
}

function asRecord(versions: readonly EventVersion[]): Readonly<Record<string, readonly number[]>> {
  const record: Record<string, number[]> = {}
  for (const { type, version } of versions) record[type] = [...(record[type] ?? []), version]
  return record
}
