import { z } from 'zod'

/** Characters as JSON Schema counts them: code points, so that an emoji beyond the base plane is one. */
function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/** Text of `min` to `max` characters. */
export const text = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .refine(value => value.length <= max || codePoints(value) <= max, `must have at most ${max} characters`)
    .meta({ maxLength: max })

const URL_MAX = 2048

/** Syntax only; whether the address may be called is the guard's business. */
export const httpUrl = text(1, URL_MAX)
  .refine(isHttpUrl, 'must be an http or https URL without user information')
  .meta({ format: 'uri' })

function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

/** Of answers: ISO 8601, UTC, milliseconds. */
export const timestamp = z.string().meta({ format: 'date-time', examples: ['2025-03-01T12:00:00.000Z'] })

/** A secret that travels in headers: visible ASCII only. */
export const secret = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters')

export const label = text(1, 80).describe('1 to 80 characters.')
