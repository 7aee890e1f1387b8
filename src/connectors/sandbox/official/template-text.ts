import { type JsonObject, textOf } from './json.ts'
import type { Template } from './state.ts'

const VARIABLE = /\{\{\s*([^{}]*?)\s*\}\}/g

/** Names of the variables of a text in their order, each once. */
export const variablesOf = (text: string): string[] => [
  ...new Set([...text.matchAll(VARIABLE)].map(found => found[1] ?? ''))
]

export const fill = (text: string, values: Map<string, string>): string =>
  text.replace(VARIABLE, (whole, name: string) => values.get(name) ?? whole)

export const componentOf = (components: readonly JsonObject[], type: string): JsonObject | undefined =>
  components.find(component => textOf(component.type)?.toUpperCase() === type)

/** The body of an authentication template is the platform's own sentence with the code in it. */
export const bodyTextOf = (template: Template): string =>
  textOf(componentOf(template.components, 'BODY')?.text) ??
  (template.category === 'AUTHENTICATION' ? '*{{1}}* is your verification code.' : '')
