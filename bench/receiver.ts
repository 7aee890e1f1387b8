/** A tenant's receiver, in a process of its own: notes what arrives, and answers 204. */
import { startReceiver } from '../src/connectors/webhook/receiver.ts'
import { obey } from './program.ts'
import type { Moment } from './simulator.ts'

export type ReceiverOrder = { readonly kind: 'start' } | { readonly kind: 'complete' } | { readonly kind: 'collect' }

/** `statuses`: name as in the simulator. `done`: messages all of whose events have come, and when the last one did. */
export type Collected = { readonly statuses: readonly Moment[]; readonly done: readonly Moment[] }

/** `message.sent`, and the statuses sent, delivered and read. */
const EVENTS_PER_LOOP = 4

let statuses: Moment[] = []
let done: Moment[] = []
const seen = new Map<string, number>()

function note(event: Readonly<Record<string, unknown>> | null): void {
  const at = performance.timeOrigin + performance.now()
  const { messageId, status } = (event?.data ?? {}) as { messageId?: string; status?: string }
  if (messageId === undefined) return
  if (status !== undefined) statuses.push([`${messageId}|${status}`, at])
  const count = (seen.get(messageId) ?? 0) + 1
  seen.set(messageId, count)
  if (count < EVENTS_PER_LOOP) return
  done.push([messageId, at])
  seen.delete(messageId)
}

obey<ReceiverOrder>(async order => {
  if (order.kind === 'start') {
    const receiver = await startReceiver({ host: '127.0.0.1', port: 0, onEvent: ({ event }) => note(event) })
    return receiver.url
  }
  if (order.kind === 'complete') return done.length
  const collected: Collected = { statuses, done }
  statuses = []
  done = []
  return collected
})
