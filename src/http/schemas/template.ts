import { z } from 'zod'
import { language } from './content.ts'
import { text, timestamp } from './text.ts'

const NAME = /^[a-z0-9_]{1,512}$/
export const isTemplateName = (value: string): boolean => NAME.test(value)

/** Template of the workspace's own, for unofficial numbers. */
export const saveTemplateBody = z
  .strictObject({
    name: z.string().regex(NAME, 'must be 1 to 512 lower-case letters, digits and underscores'),
    language,
    body: text(1, 1024).describe('`{{1}}`, `{{2}}`… or `{{names}}` stand for parameters.'),
    header: text(1, 60).exactOptional(),
    footer: text(1, 60).exactOptional()
  })
  .meta({
    examples: [{ name: 'order_shipped', language: 'en', body: 'Your order {{1}} has left.', footer: 'The shop' }]
  })

export const template = z
  .object({
    name: z.string(),
    language: z.string(),
    status: z.string().describe('`approved`, `rejected`, `pending`, `paused`, `disabled`, `flagged` or `deleted`.'),
    category: z.string().nullable(),
    source: z.enum(['official', 'workspace']).describe('`official`: read from the platform. `workspace`: put here.'),
    wabaId: z.string().nullable().describe('Account of the platform that holds it; null for own ones.'),
    body: z.string().nullable().describe('null while its text is not known.'),
    header: z.string().nullable(),
    footer: z.string().nullable(),
    updatedAt: timestamp
  })
  .meta({ id: 'Template', description: 'A template that the workspace knows.' })
