/** Templates that a tenant can use: its own, and what the official platform told of those of its WABAs. */
import type { TemplateObserved, TemplateRemoved, TemplateSaved } from '../../domain/record.ts'
import type { Projection, RecordedOf, Rows, Table, TemplateRow } from '../port.ts'

/** `wabaId` is empty for own ones. `position`: where it came to be known, the order of the list. */
export const templates: Table = {
  name: 'templates',
  columns: {
    tenantId: 'TEXT',
    name: 'TEXT',
    language: 'TEXT',
    source: 'TEXT',
    wabaId: 'TEXT',
    status: 'TEXT',
    category: 'TEXT',
    text: 'TEXT',
    updatedAt: 'TEXT',
    position: 'INTEGER'
  },
  keyLength: 5,
  indexes: ['(tenantId, position)'],
  withoutRowid: true
}

/** Languages of a tenant's own template, as JSON: a removal names none of them. */
export const ownLanguages: Table = {
  name: 'own_template_languages',
  columns: { tenantId: 'TEXT', name: 'TEXT', languages: 'TEXT' },
  keyLength: 2,
  indexes: [],
  withoutRowid: true
}

export type StoredTemplate = {
  tenantId: string
  name: string
  language: string
  source: TemplateRow['source']
  wabaId: string
  status: string
  category: string | null
  /** JSON of the text. */
  text: string | null
  updatedAt: string
  position: number
}
type OwnLanguages = { tenantId: string; name: string; languages: string }
type Handled = TemplateSaved | TemplateRemoved | TemplateObserved

/** Nobody has to approve a tenant's own one. */
const OWN_STATUS = 'approved'

export const templatesProjection: Projection = {
  name: 'templates',
  version: 1,
  tables: [templates, ownLanguages],
  handles: ['TemplateSaved', 'TemplateRemoved', 'TemplateObserved'],
  apply(recorded, rows) {
    const event = recorded as RecordedOf<Handled>
    const tenantId = event.stream.slice('templates-'.length)
    switch (event.type) {
      case 'TemplateSaved':
        return save(event, tenantId, rows)
      case 'TemplateRemoved': {
        const { name } = event.data
        for (const language of languagesOf(rows, tenantId, name))
          rows.delete(templates, [tenantId, name, language, 'workspace', ''])
        return rows.delete(ownLanguages, [tenantId, name])
      }
      case 'TemplateObserved':
        return observe(event, tenantId, rows)
    }
  }
}

function save(event: RecordedOf<TemplateSaved>, tenantId: string, rows: Rows): void {
  const { name, language, text } = event.data
  const known = rows.get<StoredTemplate>(templates, [tenantId, name, language, 'workspace', ''])
  const row: StoredTemplate = {
    tenantId,
    name,
    language,
    source: 'workspace',
    wabaId: '',
    status: OWN_STATUS,
    category: null,
    text: JSON.stringify(text),
    updatedAt: event.at,
    position: known?.position ?? event.position
  }
  rows.put(templates, row)
  if (!known) {
    const languages = JSON.stringify([...languagesOf(rows, tenantId, name), language])
    rows.put(ownLanguages, { tenantId, name, languages })
  }
}

function languagesOf(rows: Rows, tenantId: string, name: string): readonly string[] {
  const row = rows.get<OwnLanguages>(ownLanguages, [tenantId, name])
  return row ? (JSON.parse(row.languages) as string[]) : []
}

/** News of a status brings no text: the one that is known stays. */
function observe(event: RecordedOf<TemplateObserved>, tenantId: string, rows: Rows): void {
  const { wabaId, name, language, status, category, text } = event.data
  const key = [tenantId, name, language, 'official', wabaId] as const
  if (status === 'deleted') {
    rows.delete(templates, key)
    return
  }
  const known = rows.get<StoredTemplate>(templates, key)
  const row: StoredTemplate = {
    tenantId,
    name,
    language,
    source: 'official',
    wabaId,
    status,
    category: category ?? known?.category ?? null,
    text: text === undefined ? (known?.text ?? null) : JSON.stringify(text),
    updatedAt: event.at,
    position: known?.position ?? event.position
  }
  rows.put(templates, row)
}
