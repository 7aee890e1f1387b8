import { z } from 'zod'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 100

const DIGITS = /^[0-9]{1,9}$/
const toNumber = (value: unknown): unknown => (typeof value === 'string' && DIGITS.test(value) ? Number(value) : value)

/** `limit` of a list: 1 to 100, else 422. */
export const limit = z
  .preprocess(toNumber, z.int().min(1).max(LIMIT_MAX))
  .default(LIMIT_DEFAULT)
  .describe(`1 to ${LIMIT_MAX}, default ${LIMIT_DEFAULT}.`)

/** A query parameter that may be left out: null then. */
export const maybe = (schema: z.ZodString) => schema.optional().transform(value => value ?? null)

export const cursor = maybe(z.string().min(1).max(512)).describe('`nextCursor` of the page before.')

/** One page of a list. */
export const page = <T extends z.ZodType>(item: T, description: string) =>
  z
    .object({ items: z.array(item), nextCursor: z.string().nullable().describe('null on the last page.') })
    .describe(description)

/** The answer without a body. */
export const nothing = z.null().describe('Done.')
