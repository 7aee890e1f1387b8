import { z } from 'zod'
import type { MetricsWindow } from '../../projections/port.ts'
import { timestamp } from './text.ts'

const WINDOW = /^(?:24h|(?:[1-9]|[1-8][0-9]|90)d)$/
const isWindow = (value: string): value is MetricsWindow => WINDOW.test(value)

/** `24h`, or 1 to 90 days. */
export const metricsQuery = z.object({
  window: z
    .string()
    .refine(isWindow, 'must be 24h, or 1d to 90d')
    .meta({ pattern: WINDOW.source })
    .default('30d')
    .describe('`24h` in hours, or `1d` to `90d` in days; the present hour or day is the last one.')
})

const counts = { enqueued: z.int(), dispatched: z.int(), delivered: z.int() }

export const metrics = z
  .object({
    granularity: z.enum(['hour', 'day']),
    series: z
      .array(z.object({ day: z.string().meta({ format: 'date' }), t: timestamp, ...counts }))
      .describe('Oldest first, without gaps; UTC.'),
    totals: z.object({ ...counts, failed: z.int() }),
    window: z.string()
  })
  .describe('Each count falls in the bucket of its own event, and a message counts once a column.')
