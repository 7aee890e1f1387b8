/** The rows of one page: each is loaded once, folded in memory and written once. */
import type { Database } from 'better-sqlite3'
import type { Key, Row, Rows, Table } from './port.ts'
import { changingColumns, keyColumns, prepareStatements, type TableStatements } from './tables.ts'

type Entry = {
  readonly key: Key
  row: Row | undefined
  /** What the table holds under this key. `other`: nobody looked, or it is replaced by an unrelated row. */
  stored: 'none' | 'same' | 'other'
  dirty: boolean
}
type Store = {
  readonly statements: TableStatements
  readonly entries: Map<string | number, Entry>
  readonly keys: readonly string[]
  readonly columns: readonly string[]
  /** Parameters of the update: the changing columns, then the key. */
  readonly updated: readonly string[]
}

export type PageRows = Rows & {
  /** Writes what changed, in the order of the tables and of the first touch, and forgets the page. */
  flush(): void
  /** Forgets the page without writing. */
  discard(): void
}

export function createPageRows(db: Database, tables: readonly Table[]): PageRows {
  const stores = new Map<Table, Store>(tables.map(table => [table, createStore(db, table)]))

  function storeOf(table: Table): Store {
    const store = stores.get(table)
    if (!store) throw new Error(`table ${table.name} belongs to no projection`)
    return store
  }

  function discard(): void {
    for (const store of stores.values()) store.entries.clear()
  }

  return {
    get<R extends Row>(table: Table, key: Key): R | undefined {
      const store = storeOf(table)
      const id = entryKey(key)
      let entry = store.entries.get(id)
      if (!entry) {
        const row = store.statements.select.get(...key)
        entry = { key, row, stored: row ? 'same' : 'none', dirty: false }
        store.entries.set(id, entry)
      }
      return entry.row as R | undefined
    },
    put(table, row) {
      const store = storeOf(table)
      const id = rowKey(store, row)
      const entry = store.entries.get(id)
      if (!entry) store.entries.set(id, { key: keyOf(store, row), row, stored: 'other', dirty: true })
      else {
        entry.row = row
        entry.dirty = true
      }
    },
    delete(table, key) {
      const { entries } = storeOf(table)
      const id = entryKey(key)
      const stored = entries.get(id)?.stored === 'none' ? 'none' : 'other'
      entries.set(id, { key, row: undefined, stored, dirty: true })
    },
    flush() {
      for (const store of stores.values()) write(store)
      discard()
    },
    discard
  }
}

function createStore(db: Database, table: Table): Store {
  const keys = keyColumns(table)
  return {
    statements: prepareStatements(db, table),
    entries: new Map(),
    keys,
    columns: Object.keys(table.columns),
    updated: [...changingColumns(table), ...keys]
  }
}

/** A lone key is found as it is; of longer ones each part says where it ends. */
const entryKey = (key: Key): string | number => (key.length === 1 ? (key[0] ?? '') : key.map(ended).join(''))

const ended = (part: string | number): string => (typeof part === 'number' ? `${part};` : `${part.length}:${part}`)

function rowKey(store: Store, row: Row): string | number {
  const [first = ''] = store.keys
  return store.keys.length === 1 ? (row[first] ?? '') : entryKey(keyOf(store, row))
}

const keyOf = (store: Store, row: Row): Key => store.keys.map(column => row[column] ?? '')

function write(store: Store): void {
  const { insert, update, remove } = store.statements
  for (const { key, row, stored, dirty } of store.entries.values()) {
    if (!dirty) continue
    if (row === undefined) {
      if (stored !== 'none') remove.run(key)
    } else if (stored !== 'same') insert.run(valuesOf(row, store.columns))
    else update?.run(valuesOf(row, store.updated))
  }
}

function valuesOf(row: Row, columns: readonly string[]): unknown[] {
  const values = new Array<unknown>(columns.length)
  for (let index = 0; index < columns.length; index++) values[index] = row[columns[index] ?? '']
  return values
}
