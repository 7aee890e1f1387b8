import { environment, type VariableName } from './environment.ts'
import { maskInstances } from './instances.ts'
import { about, type Display } from './variable.ts'

/** One setting that stops the start. `held` has its secrets masked and fits on a line. */
export type Problem = { readonly variable: VariableName; readonly held: string; readonly allowed: string }

const MAX_SHOWN_LENGTH = 120

/**
 * Hides what stands before the last @ of a URL, what stands for a port and is none (a password whose @ was forgotten),
 * and query parameters whose name tells of a secret.
 */
const maskUrl = (text: string): string =>
  text
    .replace(/^([a-z+]*:\/\/)?.*@/is, '$1***@')
    .replace(/(\/\/[^:/?#]*):(?!\d{1,5}(?:[/?#,]|$))[^/?#]*/g, '$1:***')
    .replace(/([?&][^=&]*(?:pass|secret|token|key)[^=&]*=)[^&]*/gi, '$1***')

const masks: Readonly<Record<Display, (text: string) => string>> = {
  plain: text => text,
  secret: text => `a secret of ${text.length} characters`,
  url: maskUrl,
  instances: maskInstances
}

/** Keeps a value on its line: line ends and other control characters are written as escapes, long values are cut. */
const oneLine = (text: string): string => {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
  return escaped.length <= MAX_SHOWN_LENGTH ? escaped : `${escaped.slice(0, MAX_SHOWN_LENGTH)}…`
}

/** The problem of a variable that holds something else than it may; `undefined`: it is missing. */
export const problemOf = (variable: VariableName, text: string | undefined): Problem => {
  const told = about.get(environment.shape[variable])
  const held = text === undefined ? 'nothing' : oneLine(masks[told?.display ?? 'secret'](text))
  return { variable, held, allowed: told?.allowed ?? '' }
}

/** One line per problem, in the order of the documentation. */
export const formatProblems = (problems: readonly Problem[]): string =>
  problems.map(({ variable, held, allowed }) => `${variable} holds ${held}; allowed: ${allowed}`).join('\n')
