/** `ledgerline log export`: events as lines on stdout, read-only. */
import { exportLines } from '../log/export.ts'
import { printLines } from './output.ts'
import { createProgress } from './progress.ts'
import { openFoundEvents } from './read-log.ts'
import { settingsOrExit } from './settings.ts'

export type ExportLogOptions = {
  readonly stream?: string
  readonly type?: string
  /** ISO 8601 UTC. */
  readonly since?: string
  readonly format: 'ndjson' | 'csv'
}

export async function exportLog({ stream, type, since, format }: ExportLogOptions): Promise<void> {
  const source = await openFoundEvents(settingsOrExit('read').storage)
  // On the same terminal the lines themselves show how it goes on.
  const total = stream === undefined ? source.highest() : null
  const progress = process.stdout.isTTY ? null : createProgress({ label: 'exporting', total })
  try {
    const lines = exportLines(source, {
      format,
      ...(stream === undefined ? {} : { stream }),
      ...(type === undefined ? {} : { type }),
      ...(since === undefined ? {} : { since }),
      onProgress: count => progress?.at(count)
    })
    const count = await printLines(lines)
    progress?.end()
    if (count === (format === 'csv' ? 1 : 0)) process.stderr.write('no event matches\n')
  } finally {
    source.close()
  }
}
