import { z } from 'zod'
import { text } from './text.ts'

const hasDistinctIds = (items: readonly { readonly id: string }[]): boolean =>
  new Set(items.map(item => item.id)).size === items.length

const buttons = z.strictObject({
  type: z.literal('buttons'),
  body: text(1, 1024),
  buttons: z
    .array(z.strictObject({ id: text(1, 256), title: text(1, 20) }))
    .min(1)
    .max(3)
    .refine(hasDistinctIds, 'must have distinct ids')
})

const row = z.strictObject({ id: text(1, 200), title: text(1, 24), description: text(1, 72).exactOptional() })
const ROWS_MAX = 10

const list = z.strictObject({
  type: z.literal('list'),
  body: text(1, 4096),
  buttonLabel: text(1, 20),
  sections: z
    .array(z.strictObject({ title: text(1, 24), rows: z.array(row).min(1).max(ROWS_MAX) }))
    .min(1)
    .max(ROWS_MAX)
    .superRefine((sections, context) => {
      const rows = sections.flatMap(section => section.rows)
      if (rows.length > ROWS_MAX) context.addIssue(`must have at most ${ROWS_MAX} rows in all`)
      if (!hasDistinctIds(rows)) context.addIssue('must have rows with distinct ids')
    })
})

export const interactive = z.discriminatedUnion('type', [buttons, list])
