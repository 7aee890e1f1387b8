/** Path parameters, for the document: a malformed id is not a 422 but a thing that does not exist. */
import { z } from 'zod'

export const channelParams = z.object({ id: z.string().describe('`ch_` id.') })
export const attemptParams = z.object({ attemptId: z.string().describe('`cxn_` id.') })
export const destinationParams = z.object({ id: z.string().describe('`whd_` id.') })
export const deliveryParams = z.object({ id: z.string().describe('`dlv_` id.') })
export const keyParams = z.object({ id: z.string().describe('`key_` id.') })
export const messageParams = z.object({ id: z.string().describe('`msg_` id.') })
export const templateParams = z.object({ name: z.string().describe('Name of the template, in all its languages.') })
export const refParams = z.object({
  ref: z.string().describe('Channel id, or its phone number without the plus sign.')
})
