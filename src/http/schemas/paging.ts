import { z } from 'zod'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 100

/** `limit` of a list: 1 to 100, else 422. */
export const limit = z
  .string()
  .regex(/^[0-9]{1,9}$/, `must be an integer from 1 to ${LIMIT_MAX}`)
  .transform(Number)
  .refine(value => value >= 1 && value <= LIMIT_MAX, `must be an integer from 1 to ${LIMIT_MAX}`)
  .default(LIMIT_DEFAULT)
  .describe(`1 to ${LIMIT_MAX}, default ${LIMIT_DEFAULT}.`)

export const cursor = z.string().min(1).max(512).nullable().default(null).describe('`nextCursor` of the page before.')

/** One page of a list. */
export const page = <T extends z.ZodType>(item: T, description: string) =>
  z
    .object({ items: z.array(item), nextCursor: z.string().nullable().describe('null on the last page.') })
    .describe(description)

/** The answer without a body. */
export const nothing = z.null().describe('Done.')
