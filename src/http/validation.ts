import type { FastifySchemaCompiler } from 'fastify'
import type { ZodType } from 'zod'
import type { $ZodIssue } from 'zod/v4/core'
import { type Detail, RequestRefused } from './errors.ts'
import { formatPath } from './paths.ts'

const DETAILS_MAX = 20

/**
 * Checks a part of a request against its zod schema: 422 `validation_failed` with one detail per problem.
 * Path parameters are documented by their schemas, not checked: a malformed id is a resource that does not exist (404).
 */
export const compileValidator: FastifySchemaCompiler<ZodType> = ({ schema, httpPart }) => {
  if (httpPart === 'params') return value => ({ value })
  const isBody = httpPart === 'body'
  return value => {
    const parsed = schema.safeParse(value)
    if (parsed.success) return { value: parsed.data }
    // The framework shows a body that is not there as null; a literal null never comes this far.
    if (isBody && value === null) return { error: new RequestRefused('malformed_json') }
    return { error: new RequestRefused('validation_failed', detailsOf(parsed.error.issues)) }
  }
}

/** Answers are built field by field by our own code: a second check on the way out would only cost. */
export const compileSerializer = () => (value: unknown) => JSON.stringify(value)

/** One detail per problem, up to a number. `base` leads to the value that was checked. */
export function detailsOf(issues: readonly $ZodIssue[], base: readonly PropertyKey[] = []): readonly Detail[] {
  const details: Detail[] = []
  for (const issue of issues) {
    const path = [...base, ...issue.path]
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, DETAILS_MAX))
        details.push(detail([...path, key], 'is not a known property'))
    } else details.push(detail(path, words(issue)))
    if (details.length >= DETAILS_MAX) break
  }
  return details.slice(0, DETAILS_MAX)
}

/** In a batch the message names its item by position, counted from 1. */
export function detail(path: readonly PropertyKey[], message: string): Detail {
  const [list, index] = path
  const item = list === 'messages' && typeof index === 'number' ? `item ${index + 1}: ` : ''
  return { path: formatPath(path), message: item + message }
}

function words(issue: $ZodIssue): string {
  if (issue.code === 'invalid_type') {
    if (issue.input === undefined && issue.message.endsWith('received undefined')) return 'is required'
    return `must be ${issue.expected === 'int' ? 'an integer' : `of type ${issue.expected}`}`
  }
  if (issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options)) {
    return `must be one of ${issue.options.join(', ')}`
  }
  if (issue.code === 'invalid_value')
    return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`
  if (issue.code === 'too_small') return tooSmall(issue)
  if (issue.code === 'too_big') return `must ${bound(issue.origin)} at most ${issue.maximum}${unit(issue.origin)}`
  return issue.message
}

function tooSmall(issue: Extract<$ZodIssue, { code: 'too_small' }>): string {
  if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty'
  return `must ${bound(issue.origin)} at least ${issue.minimum}${unit(issue.origin)}`
}

const bound = (origin: string): string => (origin === 'string' || origin === 'array' ? 'have' : 'be')
const unit = (origin: string): string => (origin === 'string' ? ' characters' : origin === 'array' ? ' items' : '')
