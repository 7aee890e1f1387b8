/** What is looked at once more right before a message leaves: a failure here is final and has touched nobody (decisions §3). */
import { type Channel, isRestricted } from '../domain/channel.ts'
import type { QueueRow } from '../projections/port.ts'
import { iso } from './clock.ts'
import { type Core, seenEverything } from './core.ts'
import type { OptOuts } from './opt-outs.ts'

export type DispatchGate = {
  /** The terminal code that the message fails with, or null when it may leave. */
  refusal(channel: Channel, row: QueueRow, to: string, contentKind: string): Promise<string | null>
}

/** The platform's customer service window. */
const WINDOW_MS = 24 * 3_600_000

export function createDispatchGate(core: Core, optOuts: OptOuts, enforce24hWindow: boolean): DispatchGate {
  const { views, clock } = core

  /** As the views know the recipient. */
  function stranger(channel: Channel, row: QueueRow, contentKind: string): string | null {
    if (isRestricted(channel, iso(clock.now())) && !views.knows(channel.id, row.contactId)) return 'channel_restricted'
    if (enforce24hWindow && channel.kind === 'official' && contentKind !== 'template') {
      const heard = views.lastInboundAt(channel.id, row.contactId)
      if (heard === null || clock.now() - Date.parse(heard) >= WINDOW_MS) return 'outside_24h_window'
    }
    return null
  }

  return {
    async refusal(channel, row, to, contentKind) {
      if (await optOuts.has(row.tenantId, to)) return 'recipient_opted_out'
      if (stranger(channel, row, contentKind) === null) return null
      // It is final: what was sent or heard a moment ago has to be seen first.
      await seenEverything(core)
      return stranger(channel, row, contentKind)
    }
  }
}
