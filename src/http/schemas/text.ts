import { z } from 'zod'

/** Characters as JSON Schema counts them: code points, so that an emoji beyond the base plane is one. */
function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/** Counts only where the answer hangs on it: an overlong text costs nothing. */
const fits = (value: string, max: number): boolean =>
  value.length <= max || (value.length <= 2 * max && codePoints(value) <= max)

/** Text of `min` to `max` characters. */
export const text = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .refine(value => fits(value, max), `must have at most ${max} characters`)
    .meta({ maxLength: max })

const URL_MAX = 2048

/** Syntax only; whether the address may be called is the guard's business. */
export const httpUrl = text(1, URL_MAX)
  .refine(isHttpUrl, 'must be an http or https URL without user information')
  .meta({ format: 'uri' })

function isHttpUrl(value: string): boolean {
  if (value.length > 2 * URL_MAX || !URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

const YEAR_10000 = Date.UTC(10_000)

/** Of queries: a moment, brought to the form in which moments are stored. */
export const instant = z.iso
  .datetime({
    offset: true,
    abort: true,
    error: issue =>
      issue.code === 'invalid_format' ? 'must be an ISO 8601 date-time such as 2025-03-01T12:00:00Z' : undefined
  })
  .refine(value => Date.parse(value) < YEAR_10000, { abort: true, error: 'must be before the year 10000' })
  .transform(value => new Date(value).toISOString())

/** Of answers: ISO 8601, UTC, milliseconds. */
export const timestamp = z.string().meta({ format: 'date-time', examples: ['2025-03-01T12:00:00.000Z'] })

/** A secret that travels in headers: visible ASCII only. */
export const secret = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters')

export const label = text(1, 80).describe('1 to 80 characters.')
