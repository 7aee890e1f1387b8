import { refuse } from './errors.ts'
import { isObject, type JsonObject, listOf, longerThan, objectOf, textOf } from './json.ts'
import { componentOf, variablesOf } from './template-text.ts'
import type { Answer } from './wire.ts'

const CATEGORIES = ['MARKETING', 'UTILITY', 'AUTHENTICATION']
const FORMATS = ['TEXT', 'IMAGE', 'VIDEO', 'GIF', 'DOCUMENT', 'LOCATION']
const LIMITS = { name: 512, body: 1024, header: 60, footer: 60, label: 25, url: 2000, phone: 20, buttons: 10 }
const PER_KIND: Record<string, number> = { QUICK_REPLY: 10, URL: 2, PHONE_NUMBER: 1, COPY_CODE: 1 }
/** Fewer characters than this for each variable is too little text around them. */
const TEXT_PER_VARIABLE = 6

/** The subcodes that tell which rule of template creation was broken. */
const BROKEN = {
  length: 2388040,
  header: 2388047,
  body: 2388072,
  footer: 2388073,
  density: 2388293,
  edges: 2388299
} as const

const broken = (subcode: number, userMessage: string) =>
  refuse(100, undefined, { subcode, userMessage, message: 'Invalid parameter' })

const kindOf = (button: JsonObject) => textOf(button.type)?.toUpperCase() ?? ''

/** Positional variables count up without gaps, named ones are plain lower case; both need an example. */
function variablesFit(text: string, format: string): boolean {
  return variablesOf(text).every((name, index) =>
    format === 'NAMED' ? /^[a-z][a-z0-9_]*$/.test(name) : name === String(index + 1)
  )
}

function bodyFits(body: JsonObject | undefined, format: string, category: string): Answer | null {
  const text = textOf(body?.text)
  if (!body || (text === undefined && category !== 'AUTHENTICATION')) return broken(BROKEN.body, 'A body is required')
  if (text === undefined) return null
  if (longerThan(text, LIMITS.body)) return broken(BROKEN.length, 'The body is too long')
  const variables = variablesOf(text)
  if (variables.length === 0) return null
  if (/^\s*\{\{|\}\}\s*$/.test(text)) return broken(BROKEN.edges, 'A variable cannot stand at the start or the end')
  if (!variablesFit(text, format) || /\}\}\s*\{\{/.test(text)) return broken(BROKEN.body, 'The variables are malformed')
  if (text.replace(/\{\{[^}]*\}\}/g, '').length < variables.length * TEXT_PER_VARIABLE) {
    return broken(BROKEN.density, 'Too many variables for the length of the text')
  }
  const example = objectOf(body.example)
  const given =
    format === 'NAMED' ? listOf(example.body_text_named_params).length : listOf(listOf(example.body_text)[0]).length
  return given >= variables.length ? null : broken(BROKEN.body, 'Every variable needs an example')
}

function headerFits(header: JsonObject | undefined, format: string): Answer | null {
  if (!header) return null
  const kind = textOf(header.format)?.toUpperCase() ?? ''
  const example = objectOf(header.example)
  if (!FORMATS.includes(kind)) return broken(BROKEN.header, 'The header format is unknown')
  if (kind === 'LOCATION') return null
  if (kind !== 'TEXT') {
    return listOf(example.header_handle).length > 0 ? null : broken(BROKEN.header, 'A media header needs an example')
  }
  const text = textOf(header.text) ?? ''
  const variables = variablesOf(text)
  if (text === '' || variables.length > 1 || !variablesFit(text, format)) {
    return broken(BROKEN.header, 'The header text is malformed')
  }
  if (longerThan(text, LIMITS.header)) return broken(BROKEN.length, 'The header is too long')
  const examples = [...listOf(example.header_text), ...listOf(example.header_text_named_params)]
  return variables.length <= examples.length ? null : broken(BROKEN.header, 'The header variable needs an example')
}

function buttonFits(button: JsonObject): boolean {
  const url = textOf(button.url) ?? ''
  const kind = kindOf(button)
  if (kind === 'OTP') return true
  if (kind !== 'COPY_CODE' && (!textOf(button.text) || longerThan(textOf(button.text) ?? '', LIMITS.label)))
    return false
  if (kind === 'URL') return url !== '' && url.length <= LIMITS.url && /^[^{}]*(\{\{1\}\})?$/.test(url)
  if (kind === 'PHONE_NUMBER') return (textOf(button.phone_number) ?? 'x'.repeat(99)).length <= LIMITS.phone
  return kind in PER_KIND
}

function buttonsFit(component: JsonObject | undefined): Answer | null {
  if (!component) return null
  const buttons = listOf(component.buttons).filter(isObject)
  const kinds = buttons.map(kindOf)
  const tooMany = Object.entries(PER_KIND).some(([kind, most]) => kinds.filter(one => one === kind).length > most)
  const blocks = kinds.filter((kind, index) => kind === 'QUICK_REPLY' && kinds[index - 1] !== 'QUICK_REPLY').length
  const fits = buttons.length > 0 && buttons.length <= LIMITS.buttons && !tooMany && blocks <= 1
  return fits && buttons.every(buttonFits) ? null : refuse(100, undefined, { message: '(#100) Invalid buttons' })
}

/** Checks components of a create or edit call; null when they follow the rules. */
export function componentsFit(components: readonly JsonObject[], format: string, category: string): Answer | null {
  const footer = componentOf(components, 'FOOTER')
  const footerText = textOf(footer?.text) ?? ''
  if (variablesOf(footerText).length > 0) return broken(BROKEN.footer, 'A footer has no variables')
  if (longerThan(footerText, LIMITS.footer)) return broken(BROKEN.length, 'The footer is too long')
  return (
    headerFits(componentOf(components, 'HEADER'), format) ??
    bodyFits(componentOf(components, 'BODY'), format, category) ??
    buttonsFit(componentOf(components, 'BUTTONS'))
  )
}

/** Checks name, language and category of a create call; null when they are fine. */
export function headFits(name: string, language: string, category: string): Answer | null {
  if (!/^[a-z0-9_]+$/.test(name) || name.length > LIMITS.name) {
    return refuse(100, undefined, { message: "(#100) Param name must match '[a-z0-9_]+'" })
  }
  if (!/^[a-z]{2,3}(_[A-Z]{2})?$/.test(language)) return refuse(100, undefined, { message: '(#100) Invalid language' })
  return CATEGORIES.includes(category)
    ? null
    : refuse(100, undefined, { message: `(#100) Param category must be one of {${CATEGORIES.join(', ')}}` })
}
