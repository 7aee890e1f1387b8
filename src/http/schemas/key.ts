import { z } from 'zod'
import { PERMISSIONS } from '../../domain/tenant.ts'
import { text, timestamp } from './text.ts'

const permissions = z.array(z.enum(PERMISSIONS)).min(1).max(PERMISSIONS.length)

export const createKeyBody = z
  .strictObject({
    name: text(1, 80),
    permissions: permissions
      .refine(list => new Set(list).size === list.length, 'must not repeat a permission')
      .describe('Default: all but `keys:write`. A key grants only what it has itself.')
      .exactOptional(),
    expiresAt: z.iso.datetime({ offset: true }).describe('In the future.').exactOptional()
  })
  .meta({ examples: [{ name: 'checkout', permissions: ['messages:send', 'messages:read'] }] })

const view = {
  id: z.string(),
  name: z.string(),
  permissions: z.array(z.enum(PERMISSIONS)),
  expiresAt: timestamp.nullable(),
  createdAt: timestamp,
  lastFour: z.string()
}
export const apiKey = z.object(view).meta({ id: 'ApiKey', description: 'An API key, without its secret.' })
export const createdKey = z
  .object({ ...view, apiKey: z.string().describe('Shown this once.') })
  .describe('The key with its secret.')
