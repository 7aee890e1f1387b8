/** A limit that is a lone parameter has SQLite plan the statement anew each time (src/log/sqlite/limit.ts). */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { LIMIT, LIMIT_BY_NAME } from '../../src/log/sqlite/limit.ts'

const SOURCES = new URL('../../../src/', import.meta.url)

t.test('no statement has one', async t => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))
  t.ok(files.length > 100)
  const lone = files.filter(file => {
    const source = readFileSync(new URL(file, SOURCES), 'utf8').replaceAll(LIMIT, '').replaceAll(LIMIT_BY_NAME, '')
    return /\bLIMIT\s+[?@:$](?!\{)/.test(source)
  })
  t.same(lone, [])
})
