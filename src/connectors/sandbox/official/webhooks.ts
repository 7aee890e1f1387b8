import { escapedJson } from './json.ts'
import { createPosting } from './posting.ts'
import type { State } from './state.ts'
import { callbackOf, type StatusUpdate, statusEnvelope } from './status-updates.ts'

/** POSTs of queued statuses in flight to one receiver. */
const MAX_IN_FLIGHT = 8
/** Up to this many statuses that are due together go out one by one, as on a quiet day on the real platform. */
const SINGLES = 4
const MAX_QUEUED = 1_000_000

type Lane = { url: string; queue: StatusUpdate[]; inFlight: number; flushing: boolean }

/** Everything that goes out to receivers; queued statuses are batched when many are due together. */
export function createWebhooks(state: State) {
  const posting = createPosting(state)
  const { counts } = posting
  const lanes = new Map<string, Lane>()
  let queued = 0
  let closed = false

  const postStatuses = (url: string, updates: readonly StatusUpdate[]) => {
    counts.statuses += updates.length
    return posting.post(url, escapedJson(statusEnvelope(state, updates)))
  }

  const flush = (lane: Lane) => {
    lane.flushing = false
    while (lane.queue.length > 0 && lane.inFlight < MAX_IN_FLIGHT) {
      const batch = lane.queue.splice(0, lane.queue.length <= SINGLES ? 1 : state.settings.webhookBatch)
      queued -= batch.length
      lane.inFlight++
      void postStatuses(lane.url, batch).finally(() => {
        lane.inFlight--
        flushSoon(lane)
      })
    }
  }
  const flushSoon = (lane: Lane) => {
    if (lane.flushing || closed) return
    lane.flushing = true
    setImmediate(flush, lane)
  }

  return {
    counts,
    post: posting.post,
    handshake: posting.handshake,
    renewTimeout: posting.renewTimeout,
    /** Queues one status for its number's receiver; without a receiver, or above the bound, it is dropped. */
    enqueue(update: StatusUpdate) {
      const url = callbackOf(state, update.send.numberId)
      if (url === null || queued >= MAX_QUEUED) {
        counts.dropped++
        return
      }
      const lane = lanes.get(url) ?? { url, queue: [], inFlight: 0, flushing: false }
      lanes.set(url, lane)
      lane.queue.push(update)
      queued++
      flushSoon(lane)
    },
    /** Posts these statuses as one webhook of their own, now. */
    async together(updates: readonly StatusUpdate[]): Promise<number | null> {
      const first = updates[0]
      const url = first ? callbackOf(state, first.send.numberId) : null
      if (url === null) {
        counts.dropped += updates.length
        return null
      }
      return postStatuses(url, updates)
    },
    pending: () => queued + posting.pending(),
    clear() {
      for (const lane of lanes.values()) lane.queue.length = 0
      lanes.clear()
      queued = 0
      posting.clear()
    },
    async close() {
      closed = true
      this.clear()
      await posting.close()
    }
  }
}

export type Webhooks = ReturnType<typeof createWebhooks>
