/** Path parameters, for the document: a malformed id is not a 422 but a thing that does not exist. */
import { z } from 'zod'

export const channelParams = z.object({ id: z.string().describe('`ch_` id.') })
export const attemptParams = z.object({ attemptId: z.string().describe('`cxn_` id.') })
export const destinationParams = z.object({ id: z.string().describe('`whd_` id.') })
export const keyParams = z.object({ id: z.string().describe('`key_` id.') })
