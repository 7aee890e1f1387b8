/** A template's text with its parameters filled in. Pure. */
import type { TemplateText } from './record.ts'

export type TemplateParams = { readonly bodyParams?: readonly string[]; readonly headerText?: string }

/** `{{1}}`, `{{ 2 }}`, or a named one such as `{{first_name}}`, which takes its place by order of appearance. */
const VARIABLE = /\{\{\s*(\w+)\s*\}\}/g

/** Null when the parameters do not fit: one missing, one too many. */
export function renderTemplate(text: TemplateText, params: TemplateParams): string | null {
  const body = fill(text.body, params.bodyParams ?? [])
  if (body === null) return null
  const header =
    text.header === undefined
      ? undefined
      : fill(text.header, params.headerText === undefined ? [] : [params.headerText])
  if (header === null) return null
  return [header, body, text.footer].filter(part => part !== undefined && part !== '').join('\n\n')
}

function fill(text: string, params: readonly string[]): string | null {
  const names = [...new Set([...text.matchAll(VARIABLE)].map(match => match[1] ?? ''))]
  if (names.length !== params.length) return null
  const positional = names.every(name => /^\d+$/.test(name))
  const value = (name: string): string | undefined => params[positional ? Number(name) - 1 : names.indexOf(name)]
  if (names.some(name => value(name) === undefined)) return null
  return text.replaceAll(VARIABLE, (_match, name: string) => value(name) ?? '')
}
