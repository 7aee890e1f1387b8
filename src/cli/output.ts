/** What commands print on stdout: JSON for programs, tables for people, lines for pipes. */
import { once } from 'node:events'

const CHUNK_CHARACTERS = 64 * 1024
const GAP = '  '

export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)

/** One row a line, columns aligned; the first row is the head. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)))
  for (const row of rows) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0))
    process.stdout.write(`${cells.join(GAP).trimEnd()}\n`)
  }
}

/** Writes lines as fast as the reader takes them, in chunks; answers how many there were. */
export async function printLines(lines: AsyncIterable<string>): Promise<number> {
  let chunk = ''
  let count = 0
  const flush = async (): Promise<void> => {
    const isTaken = process.stdout.write(chunk)
    chunk = ''
    if (!isTaken) await once(process.stdout, 'drain')
  }
  for await (const line of lines) {
    chunk += `${line}\n`
    count++
    if (chunk.length >= CHUNK_CHARACTERS) await flush()
  }
  if (chunk !== '') await flush()
  return count
}
