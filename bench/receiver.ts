/** A tenant's receiver, in a process of its own: notes what arrives, and answers 204. */
import { startReceiver } from '../src/connectors/webhook/receiver.ts'
import { obey } from './program.ts'
import type { Moment } from './simulator.ts'

export type ReceiverOrder = { readonly kind: 'start' } | { readonly kind: 'complete' } | { readonly kind: 'collect' }

/** `statuses`: name as in the simulator. `done`: messages that were told as sent and as read, and when that was so. */
export type Collected = {
  readonly statuses: readonly Moment[]
  readonly done: readonly Moment[]
  readonly webhooks: number
}

/**
 * `message.sent` and the status `read` end a loop. A `delivered` that overtakes nothing makes four webhooks of it; one that
 * the platform's parallel posts bring after the `read` is no news, and makes three.
 */
const LAST_EVENTS = 2

let statuses: Moment[] = []
let done: Moment[] = []
let webhooks = 0
const seen = new Map<string, number>()

function note(event: Readonly<Record<string, unknown>> | null): void {
  const at = performance.timeOrigin + performance.now()
  const { messageId, status } = (event?.data ?? {}) as { messageId?: string; status?: string }
  if (messageId === undefined) return
  if (status !== undefined) statuses.push([`${messageId}|${status}`, at])
  webhooks++
  if (event?.type !== 'message.sent' && status !== 'read') return
  const count = (seen.get(messageId) ?? 0) + 1
  if (count < LAST_EVENTS) return void seen.set(messageId, count)
  done.push([messageId, at])
  seen.delete(messageId)
}

obey<ReceiverOrder>(async order => {
  if (order.kind === 'start') {
    const receiver = await startReceiver({ host: '127.0.0.1', port: 0, onEvent: ({ event }) => note(event) })
    return receiver.url
  }
  if (order.kind === 'complete') return done.length
  const collected: Collected = { statuses, done, webhooks }
  webhooks = 0
  statuses = []
  done = []
  return collected
})
