import { z } from 'zod'
import { recipient } from './address.ts'
import { text, timestamp } from './text.ts'

export const erasureBody = z.strictObject({ contact: recipient }).meta({ examples: [{ contact: '5511987654321' }] })

export const erased = z.object({
  contact: z.string().describe('Masked.'),
  messages: z.int().describe('Messages to the contact; they stay on record without address and content.'),
  deliveriesCancelled: z.int(),
  erasedAt: timestamp
})

export const acceptRiskBody = z
  .strictObject({ track: z.literal('unofficial'), termsVersion: text(1, 64).describe('The current one.') })
  .meta({ examples: [{ track: 'unofficial', termsVersion: 'unofficial-v1' }] })

export const riskAcceptance = z
  .object({ track: z.string(), termsVersion: z.string(), acceptedAt: timestamp })
  .meta({ id: 'RiskAcceptance', description: 'Terms of risk that the workspace has accepted.' })
