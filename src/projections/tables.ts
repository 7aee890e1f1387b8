/** From a table's description to its SQL: creation, indexes, and the four statements that a page needs. */
import type { Database, Statement } from 'better-sqlite3'
import type { Row, Table } from './port.ts'

export type TableStatements = {
  readonly select: Statement<unknown[], Row>
  readonly insert: Statement
  /** Null where a row has nothing that could change. */
  readonly update: Statement | null
  readonly remove: Statement
}

export const keyColumns = (table: Table): readonly string[] => Object.keys(table.columns).slice(0, table.keyLength)

/** Columns that an update writes. */
export function changingColumns(table: Table): readonly string[] {
  const fixed = new Set([...keyColumns(table), ...(table.fixed ?? [])])
  return Object.keys(table.columns).filter(column => !fixed.has(column))
}

export const indexName = (table: Table, index: number): string => `${table.name}_${index}`

export function createTable(db: Database, table: Table): void {
  const keys = keyColumns(table)
  const columns = Object.entries(table.columns).map(([name, type]) =>
    keys.includes(name) ? `${name} ${type} NOT NULL` : `${name} ${type}`
  )
  // A lone integer key becomes the row's own number: inserts in the order of the log then only append.
  const layout = table.withoutRowid ? ' WITHOUT ROWID' : ''
  db.exec(`CREATE TABLE ${table.name} (${[...columns, `PRIMARY KEY (${keys.join(', ')})`].join(', ')})${layout}`)
}

export function createIndexes(db: Database, table: Table): void {
  for (const [index, body] of table.indexes.entries())
    db.exec(`CREATE INDEX ${indexName(table, index)} ON ${table.name} ${body}`)
}

export function prepareStatements(db: Database, table: Table): TableStatements {
  const columns = Object.keys(table.columns)
  const where = keyColumns(table)
    .map(column => `${column} = ?`)
    .join(' AND ')
  const changing = changingColumns(table)
  const places = columns.map(() => '?').join(', ')
  const assignments = changing.map(column => `${column} = ?`).join(', ')
  return {
    select: db.prepare<unknown[], Row>(`SELECT ${columns.join(', ')} FROM ${table.name} WHERE ${where}`),
    insert: db.prepare(`INSERT OR REPLACE INTO ${table.name} (${columns.join(', ')}) VALUES (${places})`),
    update: changing.length === 0 ? null : db.prepare(`UPDATE ${table.name} SET ${assignments} WHERE ${where}`),
    remove: db.prepare(`DELETE FROM ${table.name} WHERE ${where}`)
  }
}
