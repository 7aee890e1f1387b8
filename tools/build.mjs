/**
 * Builds dist/ from src/, test/ and bench/: types are stripped file by file, and only what changed is written.
 * It checks no types; `npm run types` does.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)

const filesIn = folder => {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

const modified = file => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
/** Renamed into place, so that a process that starts meanwhile never reads half a file. */
const write = (file, text) => {
  writeFileSync(`${file}.${process.pid}`, text)
  renameSync(`${file}.${process.pid}`, file)
}

const settings = Math.max(modified(join(root, 'tsconfig.json')), modified(fileURLToPath(import.meta.url)))
const wanted = new Set()
let written = 0
for (const source of config.include.flatMap(folder => filesIn(join(root, folder)))) {
  const target = join(dist, relative(root, source)).replace(/\.ts$/, '.js')
  wanted.add(target).add(`${target}.map`)
  const built = modified(target)
  if (built > modified(source) && built > settings) continue
  mkdirSync(dirname(target), { recursive: true })
  if (!source.endsWith('.ts')) write(target, readFileSync(source))
  else {
    const { outputText, sourceMapText } = ts.transpileModule(readFileSync(source, 'utf8'), {
      // One file at a time the compiler does not see package.json, which says that all of them are ES modules.
      compilerOptions: { ...options, module: ts.ModuleKind.ESNext },
      fileName: source
    })
    write(`${target}.map`, sourceMapText ?? '')
    write(target, outputText)
  }
  written += 1
}
for (const folder of config.include)
  for (const file of filesIn(join(dist, folder))) if (!wanted.has(file) && /\.js(\.map)?$/.test(file)) rmSync(file)
chmodSync(join(dist, 'src/cli/main.js'), 0o755)
process.stdout.write(`dist: ${written} of ${wanted.size / 2} files built\n`)
