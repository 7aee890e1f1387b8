import { z } from 'zod'
import { phone } from './address.ts'
import { httpUrl, label, secret, text } from './text.ts'

/** Start of a pairing. */
export const startAttemptBody = z
  .strictObject({
    label: label.exactOptional(),
    declaredNumber: phone.describe('Does not reserve the number.').exactOptional(),
    credentials: z
      .strictObject({ baseUrl: httpUrl, apiKey: secret(1024).exactOptional() })
      .describe('An instance of your own, on the allowlist of the deployment.')
      .exactOptional(),
    preferredEngine: z.enum(['webjs', 'noweb', 'gows']).exactOptional(),
    riskAcceptance: z.strictObject({ termsVersion: text(1, 64) }).exactOptional()
  })
  .meta({ examples: [{ label: 'Front desk', riskAcceptance: { termsVersion: 'unofficial-v1' } }] })

export const startedAttempt = z.object({ attemptId: z.string(), state: z.literal('connecting'), qr: z.null() })

export const attempt = z
  .discriminatedUnion('state', [
    z.object({ attemptId: z.string(), state: z.literal('connecting') }),
    z.object({
      attemptId: z.string(),
      state: z.literal('scan_qr'),
      qr: z.string().describe('Raw QR payload to draw; renewed about every 20 seconds.')
    }),
    z.object({ state: z.literal('connected'), channelId: z.string(), number: z.string() }),
    z.object({ state: z.literal('failed'), lastError: z.string().exactOptional() }),
    z.object({ state: z.literal('expired') })
  ])
  .describe('The attempt in its current state.')

export const cancelledAttempt = z.object({ cancelled: z.literal(true) })
