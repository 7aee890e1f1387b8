/** One table of figures: printed, and written into docs/performance.md between its markers. */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

export type Figure = {
  readonly name: string
  readonly ours: string
  /** What the unavoidable work alone reaches, measured in the same run. */
  readonly floor: string
  readonly ratio: number | null
  readonly target: string
}

/** `stolen`: the share of the processor time wanted meanwhile that the host gave to others. */
export type MeasuredFigure = Figure & { readonly stolen: number | null }

const COLUMNS = ['Figure', 'Ours', 'Floor', 'Ratio', 'Target', 'Stolen'] as const
const BEGIN = '<!-- bench: begin -->'
const END = '<!-- bench: end -->'

export function tableOf(figures: readonly MeasuredFigure[]): string {
  const rows = figures.map(({ name, ours, floor, ratio, target, stolen }) => [
    name,
    ours,
    floor,
    ratio === null ? '–' : ratio.toFixed(2),
    target,
    stolen === null ? '–' : `${Math.round(stolen * 100)}%`
  ])
  const widths = COLUMNS.map((column, index) => Math.max(column.length, ...rows.map(row => row[index]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`
  return [line(COLUMNS), line(widths.map(width => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

/** Replaces what stands between the markers; the chapter around it is written by hand. */
export function writeInto(file: URL, table: string, commands: readonly string[], date: string): void {
  const text = readFileSync(file, 'utf8')
  const begin = text.indexOf(BEGIN)
  const end = text.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`${file.pathname} has no markers for the table`)
  const machine = `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version}`
  const made = `Measured ${date} on ${machine}, everything on the same machine, with ${commands.map(command => `\`${command}\``).join(', ')}.`
  writeFileSync(file, `${text.slice(0, begin + BEGIN.length)}\n\n${made}\n\n${table}\n\n${text.slice(end)}`)
}

export const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en')}/s`
export const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
