import { existsSync } from 'node:fs'
import { LogUnavailable } from '../port.ts'
import type { VerifyOptions } from '../verify.ts'
import { verifyLog } from '../verify.ts'
import type { VerifyReport } from '../verify-report.ts'
import type { VerifySource } from '../verify-source.ts'
import { logFile } from './schema.ts'
import { openVerifySource } from './verify-source.ts'

/**
 * Verifies the embedded log of a DATA_DIR, beside a running service too. A log that cannot be opened is a fault of its
 * own; LogUnavailable is thrown only when there is none.
 */
export async function verifyDataDir(dataDir: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  if (!existsSync(logFile(dataDir))) throw new LogUnavailable(`there is no event log in ${dataDir}`)
  let source: VerifySource
  try {
    source = openVerifySource(dataDir)
  } catch (error) {
    return unreadable(error instanceof Error ? error.message : 'it cannot be opened')
  }
  try {
    return await verifyLog(source, options)
  } finally {
    source.close()
  }
}

function unreadable(message: string): VerifyReport {
  const fault = { kind: 'unreadable', position: 0, stream: null, revision: null, eventId: null, message } as const
  const nothing = { events: 0, streams: 0, withoutContent: 0, anchoredTo: 0, unanchored: null, publicKeys: [] }
  return { ok: false, ...nothing, faults: [fault] }
}
