import type { JsonObject } from './json.ts'

/** An accepted send; its statuses share this record. */
export type Accepted = {
  wamid: string
  numberId: string
  to: string
  waId: string
  userId: string | undefined
  callbackData: string | undefined
  category: string
  type: string
  at: number
}

export type ListedSend = Accepted & { body: JsonObject }

const LISTED_SENDS = 1000
const KNOWN_MESSAGES = 20_000
const LISTED_READS = 1000

/**
 * What was sent: totals, accepted sends per callback data, the last thousand in full, and the wamids that a quote or a
 * reaction may name. Everything but the counts per callback data is bounded; those have a switch.
 */
export function createLedger() {
  const counts = new Map<string, number>()
  const known = new Map<string, Accepted | null>()
  const recent: ListedSend[] = []
  const reads: JsonObject[] = []
  let next = 0
  const totals = { total: 0, accepted: 0 }

  const know = (wamid: string, send: Accepted | null) => {
    known.set(wamid, send)
    if (known.size <= KNOWN_MESSAGES) return
    const oldest = known.keys().next()
    if (!oldest.done) known.delete(oldest.value)
  }

  return {
    totals,
    counts,
    accept(send: Accepted, body: JsonObject, how: { record: boolean; count: boolean }) {
      totals.accepted++
      if (how.count && send.callbackData !== undefined) {
        counts.set(send.callbackData, (counts.get(send.callbackData) ?? 0) + 1)
      }
      if (!how.record) return
      know(send.wamid, send)
      recent[next] = { ...send, body }
      next = (next + 1) % LISTED_SENDS
    },
    /** An inbound message becomes something that can be quoted, reacted to and marked as read. */
    knowInbound: (wamid: string) => know(wamid, null),
    knows: (wamid: string) => known.has(wamid),
    sendOf: (wamid: string): Accepted | null => known.get(wamid) ?? null,
    lastSendFor: (callbackData: string): Accepted | null => {
      for (let age = 1; age <= recent.length; age++) {
        const send = recent[(next - age + recent.length) % recent.length]
        if (send?.callbackData === callbackData) return send
      }
      return null
    },
    read(entry: JsonObject) {
      reads.push(entry)
      if (reads.length > LISTED_READS) reads.shift()
    },
    reads: (): JsonObject[] => reads,
    /** Oldest first. */
    list: (): ListedSend[] => [...recent.slice(next), ...recent.slice(0, next)]
  }
}

export type Ledger = ReturnType<typeof createLedger>
