/** Questions about the templates that a tenant can use. */
import type { Database } from 'better-sqlite3'
import type { TemplateText } from '../../domain/record.ts'
import { LIMIT } from '../../log/sqlite/limit.ts'
import { decodeNumber, pageOf } from '../cursor.ts'
import type { TemplateRow, Views } from '../port.ts'
import type { StoredTemplate } from '../views/templates.ts'

/** Templates of one name that are looked at; languages times WABAs of a tenant stay far below. */
const NAMESAKES_MAX = 1_000

export function templateQueries(db: Database): Pick<Views, 'templates' | 'template' | 'templatesNamed'> {
  const after = db.prepare<[string, number, number], StoredTemplate>(
    `SELECT * FROM templates WHERE tenantId = ? AND position > ? ORDER BY position ${LIMIT}`
  )
  const named = db.prepare<[string, string, number], StoredTemplate>(
    `SELECT * FROM templates WHERE tenantId = ? AND name = ? ORDER BY position ${LIMIT}`
  )
  // Two WABAs may know the name: what was heard of last counts.
  const usable = db.prepare<[string, string, string], StoredTemplate>(
    `SELECT * FROM templates WHERE tenantId = ? AND name = ? AND language = ? AND text IS NOT NULL
     ORDER BY source = 'workspace' DESC, updatedAt DESC, position DESC LIMIT 1`
  )
  return {
    templates(tenantId, limit, cursor) {
      const rows = after.all(tenantId, decodeNumber('templates', cursor, 0), limit + 1)
      return pageOf('templates', rows, limit, row => [row.position], templateRow)
    },
    template(tenantId, name, language) {
      const row = usable.get(tenantId, name, language)
      return row ? templateRow(row) : null
    },
    templatesNamed: (tenantId, name) => named.all(tenantId, name, NAMESAKES_MAX).map(templateRow)
  }
}

function templateRow({ tenantId, position, wabaId, text, ...shown }: StoredTemplate): TemplateRow {
  return {
    ...shown,
    wabaId: wabaId === '' ? null : wabaId,
    text: text === null ? null : (JSON.parse(text) as TemplateText)
  }
}
