import { refuse } from './errors.ts'
import { isObject, type Json, type JsonObject, listOf, longerThan, objectOf, textOf } from './json.ts'
import { mediaShape } from './media-shape.ts'
import type { Answer } from './wire.ts'

const MAX_BODY = 1024
const MAX_LIST_BODY = 4096
const MAX_HEADER = 60
const MAX_FOOTER = 60
const MAX_LABEL = 20

const missing = (name: string) => refuse(131008, `Required parameter is missing: interactive['${name}']`)
const invalid = (details: string) => refuse(131009, details)

/** A required text of limited length; null when it is fine. */
function required(name: string, value: Json | undefined, limit: number): Answer | null {
  if (typeof value !== 'string' || value === '') return missing(name)
  return longerThan(value, limit) ? invalid(`${name} length invalid. Min length: 1, Max length: ${limit}`) : null
}

const optional = (name: string, value: Json | undefined, limit: number) =>
  value === undefined ? null : required(name, value, limit)

const distinct = (values: (string | undefined)[]) => new Set(values).size === values.length

/** The first refusal of a row of checks. */
const first = (...checks: (Answer | null)[]) => checks.find(check => check !== null) ?? null

function headerShape(header: Json | undefined, type: string): Answer | null {
  if (header === undefined) return null
  if (!isObject(header)) return missing('header')
  if (header.type === 'text') return required('header.text', header.text, MAX_HEADER)
  const kind = textOf(header.type) ?? ''
  if (!['image', 'video', 'document'].includes(kind)) return invalid('Header type is not supported')
  if (type === 'list') return invalid('The header of a list must be text')
  return mediaShape(kind, objectOf(header[kind]))
}

function buttonsShape(action: JsonObject): Answer | null {
  const buttons = listOf(action.buttons)
  if (buttons.length < 1 || buttons.length > 3) {
    return invalid('Invalid buttons count. Min allowed buttons: 1, Max allowed buttons: 3')
  }
  const replies = buttons.map(button => objectOf(objectOf(button).reply))
  if (buttons.some(button => objectOf(button).type !== 'reply')) return invalid('Button type must be reply')
  const broken = first(
    ...replies.flatMap(reply => [
      required('button.id', reply.id, 256),
      required('button.title', reply.title, MAX_LABEL)
    ])
  )
  if (broken) return broken
  if (!distinct(replies.map(reply => textOf(reply.title)))) return invalid('Duplicated title found among buttons')
  return distinct(replies.map(reply => textOf(reply.id))) ? null : invalid('Duplicated id found among buttons')
}

function listShape(action: JsonObject): Answer | null {
  const sections = listOf(action.sections).map(objectOf)
  const rows = sections.flatMap(section => listOf(section.rows).map(objectOf))
  if (sections.length < 1 || sections.length > 10) return invalid('Invalid sections count. Min: 1, Max: 10')
  if (rows.length < 1 || rows.length > 10) return invalid('Total row count exceeds the allowed 10, or is zero')
  const broken = first(
    required('action.button', action.button, MAX_LABEL),
    ...sections.map(({ title }) =>
      sections.length > 1 ? required('section.title', title, 24) : optional('section.title', title, 24)
    ),
    ...rows.flatMap(row => [
      required('row.id', row.id, 200),
      required('row.title', row.title, 24),
      optional('row.description', row.description, 72)
    ])
  )
  if (broken) return broken
  return distinct(rows.map(row => textOf(row.id))) ? null : invalid('Duplicated row id')
}

function linkShape(action: JsonObject): Answer | null {
  const { display_text, url } = objectOf(action.parameters)
  if (action.name !== 'cta_url') return invalid('action.name must be cta_url')
  const broken = first(
    required('action.parameters.display_text', display_text, MAX_LABEL),
    required('action.parameters.url', url, 2000)
  )
  if (broken) return broken
  return URL.canParse(textOf(url) ?? '') ? null : invalid('action.parameters.url is not a valid URL')
}

/** Checks a button, list or link message against the limits of the platform; null when it is fine. */
export function interactiveShape(interactive: JsonObject): Answer | null {
  const type = textOf(interactive.type) ?? ''
  const action = objectOf(interactive.action)
  if (!['button', 'list', 'cta_url'].includes(type)) return invalid('Interactive type is not supported')
  if (!isObject(interactive.action)) return missing('action')
  const outside = first(
    required('body.text', objectOf(interactive.body).text, type === 'list' ? MAX_LIST_BODY : MAX_BODY),
    headerShape(interactive.header, type),
    interactive.footer === undefined ? null : required('footer.text', objectOf(interactive.footer).text, MAX_FOOTER)
  )
  if (outside) return outside
  if (type === 'button') return buttonsShape(action)
  return type === 'list' ? listShape(action) : linkShape(action)
}
