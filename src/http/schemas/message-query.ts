import { z } from 'zod'
import { recipient } from './address.ts'
import { cursor, limit } from './paging.ts'
import { instant } from './text.ts'
import { STATES } from './tracking.ts'

const RENOTIFY_WINDOW_DAYS = 7
const DAY_MS = 86_400_000

const filter = {
  state: z.enum(STATES).exactOptional(),
  recipient: recipient.exactOptional(),
  channelId: z.string().describe('`ch_` id; an unknown one matches nothing.').exactOptional()
}
const from = instant.describe('Accepted at this moment or later.')
const to = instant.describe('Accepted before this moment.')

type Window = { readonly from?: string; readonly to?: string }
const isOrdered = ({ from, to }: Window): boolean => from === undefined || to === undefined || from <= to
const notOrdered = { path: ['from'], error: 'must not be later than to' }

/** Filters of the message list (decisions §3). */
export const messagesQuery = z
  .object({ from: from.exactOptional(), to: to.exactOptional(), ...filter, limit, cursor })
  .refine(isOrdered, notOrdered)

/** The same for renotify, in a window that must be named and is no longer than a week. */
export const renotifyQuery = z
  .object({ from, to, ...filter })
  .refine(isOrdered, notOrdered)
  .refine(({ from, to }) => Date.parse(to) - Date.parse(from) <= RENOTIFY_WINDOW_DAYS * DAY_MS, {
    path: ['to'],
    error: `must be at most ${RENOTIFY_WINDOW_DAYS} days after from`
  })

export const renotified = z.object({
  enqueued: z.literal(true),
  status: z.enum(['sent', 'delivered', 'read', 'failed'])
})

export const renotifiedMany = z.object({
  enqueued: z.int(),
  skipped: z.int().describe('Matches in states without a delivery status.')
})
