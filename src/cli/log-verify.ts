/** `ledgerline log verify`: the log that the settings name, or an export of it, proved intact or its faults named. */
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { openExport } from '../log/export-source.ts'
import { verifyDataDir } from '../log/sqlite/verify-data-dir.ts'
import { openVerifySource } from '../log/sqlite/verify-source.ts'
import { type VerifyOptions, verifyLog } from '../log/verify.ts'
import type { Fault, VerifyReport } from '../log/verify-report.ts'
import { CommandFailed, EXIT } from './exit.ts'
import { printJson } from './output.ts'
import { createProgress } from './progress.ts'
import { openFoundEvents } from './read-log.ts'
import { settingsOrExit } from './settings.ts'

export type VerifyLogOptions = {
  readonly stream?: string
  readonly anchors?: string
  readonly publicKey?: readonly string[]
  readonly export?: string
  readonly json?: true
}

export async function verifyLogCommand(options: VerifyLogOptions): Promise<void> {
  const report = options.export === undefined ? await verifyOwn(options) : await verifyExport(options.export, options)
  if (options.json) printJson(report)
  else process.stdout.write(`${reportLines(report).join('\n')}\n`)
  if (!report.ok) process.exitCode = EXIT.failed
}

async function verifyOwn(options: VerifyLogOptions): Promise<VerifyReport> {
  const { storage } = settingsOrExit('read')
  const { dataDir, anchorFile } = storage
  const configured = anchorFile !== null && existsSync(anchorFile) ? anchorFile : undefined
  const asked = verifyOptions(options, options.anchors ?? configured)
  if (storage.eventStoreUrl !== null) {
    const source = await openFoundEvents(storage)
    return watched(null, asked, told => verifyLog(source, told)).finally(source.close)
  }
  const total = options.stream === undefined ? newestPosition(dataDir) : null
  return watched(total, asked, told => verifyDataDir(dataDir, told))
}

async function verifyExport(file: string, options: VerifyLogOptions): Promise<VerifyReport> {
  if (!existsSync(file) || !statSync(file).isFile()) throw new CommandFailed(`there is no file ${file}`)
  const source = openExport(() =>
    createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
  )
  return watched(null, verifyOptions(options, options.anchors), asked => verifyLog(source, asked))
}

function verifyOptions({ stream, publicKey }: VerifyLogOptions, anchors: string | undefined): VerifyOptions {
  return {
    ...(stream === undefined ? {} : { stream }),
    ...(publicKey === undefined ? {} : { publicKeys: publicKey }),
    ...(anchors === undefined ? {} : { anchorLines: anchorLines(anchors) })
  }
}

function anchorLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    throw new CommandFailed(`the anchors in ${file} cannot be read`)
  }
}

async function watched(
  total: number | null,
  options: VerifyOptions,
  verify: (options: VerifyOptions) => Promise<VerifyReport>
): Promise<VerifyReport> {
  const progress = createProgress({ label: 'verifying', total })
  return verify({ ...options, onProgress: progress.at }).finally(progress.end)
}

/** Null when the log cannot be opened: the verification will say why. */
function newestPosition(dataDir: string): number | null {
  try {
    const source = openVerifySource(dataDir)
    const newest = source.highest()
    source.close()
    return newest
  } catch {
    return null
  }
}

function reportLines(report: VerifyReport): string[] {
  const { events, streams, withoutContent, anchoredTo, unanchored, publicKeys, faults } = report
  const lines = [report.ok ? 'intact' : `NOT intact: ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`]
  lines.push(...faults.map(faultLine))
  lines.push(`events checked       ${events} in ${streams} streams`)
  if (withoutContent > 0) lines.push(`without content      ${withoutContent} (erased, or left out of an export)`)
  lines.push(`anchored to          ${anchoredTo === 0 ? 'nothing: there is no anchor' : `position ${anchoredTo}`}`)
  if (unanchored) {
    const { from, to, count } = unanchored
    lines.push(
      `not yet anchored     ${count} (positions ${from} to ${to}): whoever can write the file could alter them`
    )
  }
  lines.push(...publicKeys.map(key => `anchors signed with  ${key}`))
  return lines
}

function faultLine({ kind, position, stream, revision, eventId, message }: Fault): string {
  const where = [
    position === 0 ? null : `position ${position}`,
    stream,
    revision === null ? null : `revision ${revision}`,
    eventId
  ]
  return `  ${kind}: ${[...where.filter(part => part !== null), message].join(', ')}`
}
