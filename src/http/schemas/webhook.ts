import { z } from 'zod'
import { cursor, limit } from './paging.ts'
import { httpUrl, timestamp } from './text.ts'

export const createDestinationBody = z
  .strictObject({ url: httpUrl })
  .meta({ examples: [{ url: 'https://example.com/webhooks' }] })

const view = {
  id: z.string(),
  url: z.string(),
  secretLast4: z.string(),
  enabled: z.boolean(),
  createdAt: timestamp
}
export const destination = z.object(view).meta({ id: 'Destination', description: 'A receiver of events.' })
export const createdDestination = z
  .object({ ...view, secret: z.string().describe('Shown this once.') })
  .describe('The destination with its signing secret.')

const STATES = ['pending', 'dispatching', 'delivered', 'retrying', 'dead'] as const

export const deliveriesQuery = z.object({
  state: z.enum(STATES).exactOptional(),
  destinationId: z.string().max(64).exactOptional(),
  eventType: z.string().max(64).exactOptional(),
  limit,
  cursor
})

export const delivery = z
  .object({
    id: z.string(),
    eventId: z.string(),
    eventType: z.string(),
    destinationId: z.string(),
    state: z.enum(STATES),
    attempts: z.int(),
    lastError: z.string().nullable(),
    lastStatus: z.int().nullable(),
    nextAttemptAt: timestamp.nullable(),
    createdAt: timestamp,
    deliveredAt: timestamp.nullable()
  })
  .meta({ id: 'Delivery', description: 'One event on its way to one destination.' })
