import { z } from 'zod'
import { timestamp } from './text.ts'

export const STATES = [
  'queued',
  'dispatching',
  'retrying',
  'indeterminate',
  'sent',
  'delivered',
  'read',
  'failed'
] as const

const view = {
  id: z.string(),
  channelId: z.string(),
  state: z.enum(STATES),
  attempts: z.int().describe('How often it was handed to the platform.'),
  lastError: z.string().nullable(),
  toAddress: z.string().describe('Masked; `***` after an erasure.'),
  traceId: z.string(),
  createdAt: timestamp,
  updatedAt: timestamp
}

/** A message as tracking shows it: never its content, and its address masked. */
export const tracking = z
  .object({
    ...view,
    events: z.array(
      z.object({
        state: z.enum(STATES),
        outcome: z.enum(['accepted', 'ok', 'retry', 'unknown', 'failed', 'late']),
        detail: z.object({ code: z.string().nullable() }),
        brokerTimestamp: timestamp,
        providerTimestamp: timestamp.nullable()
      })
    )
  })
  .meta({ id: 'Message', description: 'A message as tracking shows it.' })

export const listedMessage = z
  .object(view)
  .meta({ id: 'MessageListItem', description: 'A message as the list shows it: tracking without its events.' })
