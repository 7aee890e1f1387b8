import { z } from 'zod'
import { baseUrlOf } from './fields.ts'

const MAX_INSTANCES = 1_000
const MAX_CAPACITY = 10_000

const poolInstance = z.strictObject({
  baseUrl: z.string().transform((text, context) => {
    const url = baseUrlOf(text)
    if (url !== undefined) return url
    context.addIssue({ code: 'custom', message: 'not allowed' })
    return z.NEVER
  }),
  apiKey: z
    .string()
    .regex(/^[\x21-\x7e]*$/)
    .nullish()
    .transform(key => (key ? key : null)),
  engine: z.enum(['webjs', 'noweb', 'gows']),
  capacity: z.int().min(1).max(MAX_CAPACITY)
})

/** One instance of the unofficial pool; `capacity` is the number of sessions that it holds. */
export type PoolInstance = z.infer<typeof poolInstance>

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `UNOFFICIAL_INSTANCES`: a JSON array in which no address appears twice. */
export const poolInstances = () =>
  z
    .string()
    .transform(parseJson)
    .pipe(
      z
        .array(poolInstance)
        .max(MAX_INSTANCES)
        .refine(pool => new Set(pool.map(one => one.baseUrl)).size === pool.length)
    )

const shownKeys = new Set(['baseUrl', 'engine', 'capacity'])

const hideUserInfo = (value: unknown): unknown =>
  typeof value === 'string' ? value.replace(/^([^@]*:\/\/)?.*@/s, '$1***@') : value

const showInstance = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return '***'
  const shown = ([key, held]: [string, unknown]) => [key, shownKeys.has(key) ? hideScalar(held) : '***']
  return Object.fromEntries(Object.entries(value).map(([key, held]) => shown([key, held])))
}

const hideScalar = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? '***' : hideUserInfo(value)

/** The pool as a problem may show it: addresses, engines and capacities, and nothing else that was in the text. */
export const maskInstances = (text: string): string => {
  const value = parseJson(text)
  if (value === undefined) return `text that is not JSON (${text.length} characters)`
  return Array.isArray(value) ? JSON.stringify(value.map(showInstance)) : 'JSON that is not an array'
}
