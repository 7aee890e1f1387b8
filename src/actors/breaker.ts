/**
 * The circuit breaker of a number: that many failures caused by the provider within the window, and nothing leaves any
 * more until its owner releases it (decisions §1, BREAKER_FAILURES).
 */
import { streamOf } from './aggregates.ts'
import { iso } from './clock.ts'
import { type Core, now, ownCommand, seenEverything } from './core.ts'

export type BreakerOptions = { readonly core: Core; readonly failures: number; readonly windowMs: number }

/** Trips when the views tell of a failure. Works until the returned function is called. */
export function startBreaker({ core, failures, windowMs }: BreakerOptions): () => void {
  const { views, aggregates, clock, logger } = core
  let stopped = false

  const recentOf = (channelId: string): number => views.failuresSince(channelId, iso(clock.now() - windowMs))

  async function check(channelId: string): Promise<void> {
    if (recentOf(channelId) < failures) return
    // A release that the views have not seen yet takes the failures before it away.
    await seenEverything(core)
    const recent = recentOf(channelId)
    if (recent < failures) return
    const stream = streamOf.channel(channelId)
    const { tenantId, limitedSince, state } = await aggregates.channels.read(stream)
    if (limitedSince !== null || state === 'none' || state === 'deleted') return
    const command = {
      type: 'Limit',
      at: now(core),
      failures: recent,
      windowSeconds: Math.round(windowMs / 1000)
    } as const
    await aggregates.channels.ask(stream, command, ownCommand(core, tenantId, 'breaker'))
  }

  views.onPage(({ touched }) => {
    if (stopped) return
    for (const channelId of (touched.failure ?? []).filter(core.works))
      check(channelId).catch(error => logger.warn({ err: error, channelId }, 'the breaker could not trip'))
  })
  return () => {
    stopped = true
  }
}
