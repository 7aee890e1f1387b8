/**
 * Pairs reports that were held with the sends that they are about (architecture, rule 5): whichever comes first, on whichever
 * node, both are in the views of the one that works the channel in the end. Doing it twice is doing it once.
 */
import type { Report } from '../domain/message.ts'
import type { ReportSettled } from '../domain/record.ts'
import type { ChannelRow, HeldReport } from '../projections/port.ts'
import { coalesced, iso } from './clock.ts'
import { type Core, now } from './core.ts'
import { appendToInbox, recordReport } from './report-records.ts'
import type { ShardWorker } from './shard-work.ts'

export type HeldReports = ShardWorker & { stop(): Promise<void> }

/** Live held reports per channel; more are dropped, for the provider repeats and the supervisor polls. */
export const HELD_MAX = 1_000
/** A report that has found no send by then never will. */
export const HELD_MAX_AGE_MS = 24 * 3_600_000
/** What the log could not take is tried again after this. */
const AGAIN_MS = 1_000

export function createHeldReports(core: Core): HeldReports {
  const { views, clock, logger } = core
  /** Channel → the pairing of what is held for it. A channel leaves when nothing is held any more. */
  const pairings = new Map<string, () => void>()
  const running = new Set<Promise<void>>()
  let stopping = false

  async function settle(channel: ChannelRow, messageId: string, held: HeldReport): Promise<void> {
    await recordReport(core, channel, messageId, reportOf(held), null)
    const done: ReportSettled = { type: 'ReportSettled', at: now(core), data: { heldId: held.id } }
    await appendToInbox(core, channel, done, null)
  }

  async function pair(channelId: string): Promise<void> {
    const channel = views.channelById(channelId)
    if (stopping || !channel) return
    const held = views.unsettledReports(channelId, iso(clock.now() - HELD_MAX_AGE_MS), HELD_MAX)
    if (held.length === 0) pairings.delete(channelId)
    for (const report of held.toReversed()) {
      const messageId = views.messageByProviderId(channelId, report.providerIdIndex)
      if (messageId !== null && !stopping && core.works(channelId)) await settle(channel, messageId, report)
    }
  }

  function pairingOf(channelId: string): () => void {
    const known = pairings.get(channelId)
    if (known) return known
    const again = (error: unknown): void => {
      logger.warn({ err: error, channelId }, 'held reports could not be paired and are tried again')
      clock.after(AGAIN_MS, () => pairings.get(channelId)?.())
    }
    const pairing = coalesced(() => tracked(pair(channelId)), again)
    pairings.set(channelId, pairing)
    return pairing
  }

  async function tracked(work: Promise<void>): Promise<void> {
    running.add(work)
    await work.finally(() => running.delete(work))
  }

  views.onPage(({ touched }) => {
    if (stopping) return
    for (const channelId of touched.held ?? []) if (core.works(channelId)) pairingOf(channelId)()
    // A message whose provider id became known has left what is under way.
    if (pairings.size > 0) for (const channelId of touched.dispatch ?? []) pairings.get(channelId)?.()
  })

  return {
    async open(belongs) {
      for (const channelId of views.channelsWithHeldReports()) if (belongs(channelId)) pairingOf(channelId)()
    },
    async close(belongs) {
      for (const channelId of [...pairings.keys()]) if (belongs(channelId)) pairings.delete(channelId)
      await Promise.allSettled([...running])
    },
    async stop() {
      stopping = true
      await Promise.allSettled([...running])
    }
  }
}

const reportOf = ({ status, code, providerCode, providerAt, providerIdIndex }: HeldReport): Report => ({
  status,
  code: code ?? null,
  // Only unofficial numbers hold reports, and they send no reactions.
  reactionCode: null,
  providerCode: providerCode ?? null,
  providerAt,
  providerIdIndex,
  secrets: null
})
