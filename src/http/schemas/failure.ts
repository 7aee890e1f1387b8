import { z } from 'zod'
import { ERRORS, type ErrorCode } from '../errors.ts'
import { documented } from './documented.ts'

const error = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      traceId: z.string(),
      details: z.array(z.object({ path: z.string(), message: z.string() })).exactOptional()
    })
  })
  .meta({
    id: 'Error',
    description: 'What every refusal looks like.',
    examples: [
      {
        error: {
          code: 'validation_failed',
          message: ERRORS.validation_failed[1],
          traceId: 'tr_01jqzk4v8h3m6n9p2r5t7w0xya',
          details: [{ path: 'content.text', message: 'is required' }]
        }
      }
    ]
  })

type Documented = ReturnType<typeof documented<typeof error>>

/** Documentation of a route's refusals: one entry per status, naming the codes. */
export function failures(...codes: readonly ErrorCode[]): Readonly<Record<number, Documented>> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const status = ERRORS[code][0]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const entries = [...byStatus].map(([status, names]): [number, Documented] => [
    status,
    documented(names.map(name => `\`${name}\`: ${ERRORS[name][1]}`).join(' '), error)
  ])
  return Object.fromEntries(entries)
}

/** What any route behind a key may answer, and its own refusals. */
export const bearerFailures = (...codes: readonly ErrorCode[]) =>
  failures('unauthorized', 'forbidden', ...codes, 'rate_limited', 'internal_error', 'overloaded')

/** The same for routes with a body. */
export const bodyFailures = (...codes: readonly ErrorCode[]) =>
  bearerFailures('malformed_json', 'payload_too_large', 'unsupported_media_type', 'validation_failed', ...codes)
