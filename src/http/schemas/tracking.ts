import { z } from 'zod'
import { timestamp } from './text.ts'

const STATES = ['queued', 'dispatching', 'retrying', 'indeterminate', 'sent', 'delivered', 'read', 'failed'] as const

/** A message as tracking shows it: never its content, and its address masked. */
export const tracking = z
  .object({
    id: z.string(),
    channelId: z.string(),
    state: z.enum(STATES),
    attempts: z.int().describe('How often it was handed to the platform.'),
    lastError: z.string().nullable(),
    toAddress: z.string().describe('Masked.'),
    traceId: z.string(),
    createdAt: timestamp,
    updatedAt: timestamp,
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
