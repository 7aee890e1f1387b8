/** `docs/events.md`, rendered from the catalogue. */
import { z } from 'zod'
import type { EventDefinition } from './definition.ts'

/** The parts of a JSON schema that our fields use. */
type Schema = {
  readonly title?: string
  readonly description?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly minimum?: number
  readonly maxLength?: number
  readonly maxItems?: number
}

const INTRODUCTION = `# Events

Everything that happens is one of these events in an append-only stream. This page is generated from the catalogue
(\`src/log/catalogue\`) by \`npm run docs\`: the very schemas that each event has to pass before it is written.

An event's body is \`{ "v": version, "data": …, "sealed": … }\`. \`data\` is stored in clear and never holds personal data or
secrets. \`sealed\` is encrypted with AES-256-GCM and bound to the event's id: under the **contact's** key where it holds
personal data (erasing that key makes it unreadable for good), under the **tenant's** key where it holds a secret. Who
recorded it, when, for which tenant and for what cause stands in the metadata. Optional members are left out, never null.
`

export function eventsDocument(definitions: readonly EventDefinition[]): string {
  const streams = [...new Set(definitions.map(({ stream }) => stream))]
  const groups = streams.map(stream => ({ stream, group: definitions.filter(held => held.stream === stream) }))
  const contents = groups.map(({ stream, group }) => {
    const links = group.map(({ type }) => `[${type}](#${type.toLowerCase()})`)
    return `| \`${stream}\` | ${links.join(', ')} |`
  })
  const sections = groups.map(
    ({ stream, group }) => `## Stream \`${stream}\`\n\n${group.map(definitionSection).join('\n')}`
  )
  return [INTRODUCTION, ['| Stream | Events |', '|---|---|', ...contents, ''].join('\n'), ...sections].join('\n')
}

function definitionSection({ type, version, by, about, data, sealed, key }: EventDefinition): string {
  const rows = fieldRows(jsonSchema(data), '', '')
  if (sealed) rows.push(...fieldRows(jsonSchema(sealed), '', `${key ?? ''} key`))
  const table = ['| Field | Type | Required | Sealed under |', '|---|---|---|---|', ...rows].join('\n')
  return `### ${type}\n\n${about}\n\nVersion ${version}. Appended by: ${by}.\n\n${rows.length > 0 ? table : 'No fields.'}\n`
}

const jsonSchema = (schema: z.ZodType): Schema => z.toJSONSchema(schema) as Schema

/** One row a field; the members of objects and of lists of objects follow their parent. */
function fieldRows(schema: Schema, prefix: string, sealedUnder: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const required = schema.required?.includes(name) ? 'yes' : 'no'
    const about = field.description ? `; ${field.description}` : ''
    const row = `| \`${prefix}${name}\` | ${typeText(field)}${about} | ${required} | ${sealedUnder} |`
    const inner = field.items ?? field
    const path = `${prefix}${name}${field.items ? '[]' : ''}.`
    return [row, ...fieldRows(inner, path, sealedUnder)]
  })
}

function typeText(schema: Schema): string {
  if (schema.title) return schema.title
  if (schema.anyOf) return schema.anyOf.map(typeText).join(' or ')
  if (schema.enum) return schema.enum.map(value => `\`${value}\``).join(', ')
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (schema.items) return `list of ${typeText(schema.items)}${schema.maxItems ? `, at most ${schema.maxItems}` : ''}`
  if (schema.type === 'object')
    return typeof schema.additionalProperties === 'object'
      ? `object of ${typeText(schema.additionalProperties)} values`
      : 'object'
  if (schema.type === 'string' && schema.maxLength) return `text, at most ${schema.maxLength} characters`
  if (schema.type === 'string') return 'text'
  if (schema.minimum !== undefined) return `${schema.type} from ${schema.minimum}`
  return schema.type ?? 'any JSON value'
}
