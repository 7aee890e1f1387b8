/**
 * `npm run bench [-- names…]`: measures the figures by name (all of them by default), prints one table, and writes it into
 * docs/performance.md when all were measured or `--write` says so. Other options: `--seconds 60` for the rates of the
 * loop, `--rates 200,400`, `--profile <folder>` for CPU profiles of the service.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { admission } from './admission.ts'
import { batch } from './batch.ts'
import { dispatch } from './dispatch.ts'
import { list } from './list.ts'
import { loop } from './loop.ts'
import { mixed } from './mixed.ts'
import { countStolen } from './stolen.ts'
import { type Figure, type MeasuredFigure, tableOf, writeInto } from './table.ts'
import { log, views } from './views.ts'

export type Bench = {
  /** For the files of this run; removed after it. */
  readonly folder: string
  readonly profileDir: string | null
  /** Rates that the loop tries, in this order, until one does not hold. */
  readonly rates: readonly number[]
  readonly loopMs: number
  /** What is worth knowing beside the table. */
  readonly say: (line: string) => void
}

const BENCHES: Readonly<Record<string, (bench: Bench) => Promise<readonly Figure[]>>> = {
  admission,
  batch,
  mixed,
  dispatch,
  loop,
  list,
  log,
  views
}
const DOCUMENT = new URL('../../docs/performance.md', import.meta.url)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '10' },
    rates: { type: 'string', default: '200,300,400,500,600,700,800,900,1000,1200,1400' },
    profile: { type: 'string' },
    write: { type: 'boolean', default: false }
  }
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const unknown = positionals.find(name => !Object.hasOwn(BENCHES, name))
if (unknown !== undefined) {
  process.stderr.write(`${unknown} is not measured here; there are ${Object.keys(BENCHES).join(', ')}\n`)
  process.exit(2)
}
const names = positionals.length > 0 ? positionals : Object.keys(BENCHES)
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const figures: MeasuredFigure[] = []
for (const name of names) {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerline-bench-'))
  try {
    const bench: Bench = {
      folder,
      profileDir: values.profile ?? null,
      rates: values.rates.split(',').map(Number),
      loopMs: Number(values.seconds) * 1000,
      say
    }
    const stolen = countStolen()
    const measured = (await BENCHES[name]?.(bench)) ?? []
    figures.push(...measured.map(figure => ({ ...figure, stolen: stolen() })))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
const table = tableOf(figures)
say(`\n${table}\n`)
if (values.write || positionals.length === 0) {
  const asked = process.argv.slice(2).filter(argument => argument !== '--write')
  const command = ['npm run bench', ...(asked.length > 0 ? ['--', ...asked] : [])].join(' ')
  writeInto(DOCUMENT, table, [command], new Date().toISOString().slice(0, 10))
}
