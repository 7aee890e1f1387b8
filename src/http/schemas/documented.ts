import type { ZodType } from 'zod'

/** An answer with its description beside the schema: a schema that is referred to by name cannot carry one. */
export const documented = <T extends ZodType>(description: string, schema: T) => ({
  description,
  content: { 'application/json': { schema } }
})
