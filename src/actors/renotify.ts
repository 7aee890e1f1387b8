/** Renotify: the current status of a message goes out once more, marked as a redelivery; nothing is resent to anybody. */
import { hasDeliveryStatus } from '../domain/message.ts'
import { streamOf } from './aggregates.ts'
import { type Asker, askedBy, type Core, now, ok, type Result, refuse } from './core.ts'
import type { MessageList, MessageQuery } from './message-list.ts'

export type Renotify = {
  one(asker: Asker, messageId: string): Promise<Result<{ enqueued: true; status: string }>>
  /** The filter has been checked: `from` and `to` at most seven days apart. */
  many(asker: Asker, query: MessageQuery): Promise<Result<{ enqueued: number; skipped: number }>>
}

/** channel-service, Limits: more matches are refused and nothing is processed. */
const MATCHES_MAX = 5_000
/** Messages worked side by side; between them the event loop breathes. */
const AT_ONCE = 64

export function createRenotify(core: Core, messages: Pick<MessageList, 'toFilter'>): Renotify {
  const { views, aggregates } = core

  return {
    async one(asker, messageId) {
      await core.own.settled(asker.tenantId)
      const row = views.tracking(asker.tenantId, messageId)
      if (!row) return refuse('resource_not_found')
      const outcome = await aggregates.messages.ask(
        streamOf.message(messageId),
        { type: 'Renotify', at: now(core) },
        askedBy(asker)
      )
      return outcome.ok ? ok({ enqueued: true, status: outcome.state.state }) : refuse(outcome.code)
    },
    async many(asker, query) {
      await core.own.settled(asker.tenantId)
      const filter = await messages.toFilter(asker, query)
      const matches = views.messageStates(asker.tenantId, filter, MATCHES_MAX + 1)
      if (matches.length > MATCHES_MAX)
        return {
          ok: false,
          code: 'validation_failed',
          details: [{ path: 'from', message: `matches more than ${MATCHES_MAX} messages` }]
        }
      let enqueued = 0
      const told = matches.filter(match => hasDeliveryStatus(match.state))
      for (let start = 0; start < told.length; start += AT_ONCE) {
        const outcomes = await Promise.all(
          told
            .slice(start, start + AT_ONCE)
            .map(match =>
              aggregates.messages.ask(streamOf.message(match.id), { type: 'Renotify', at: now(core) }, askedBy(asker))
            )
        )
        const failed = outcomes.find(outcome => !outcome.ok && outcome.code === 'overloaded')
        if (failed) return refuse('overloaded')
        enqueued += outcomes.filter(outcome => outcome.ok).length
      }
      return ok({ enqueued, skipped: matches.length - told.length })
    }
  }
}
