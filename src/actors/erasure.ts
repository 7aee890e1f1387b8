/**
 * Erasure of a person (decisions §4, §7, §8.2): recorded first, with all contacts that are the same person; then what waits
 * for them ends, then their key streams are erased, and everything sealed under those keys is unreadable for good. The view
 * keeps what is left to do, and a crash in between is completed by the reactor.
 */
import type { ContactErased, ContactErasureCompleted } from '../domain/record.ts'
import { LogUnavailable, NO_STREAM } from '../log/port.ts'
import type { ErasureRow } from '../projections/port.ts'
import { streamOf } from './aggregates.ts'
import { type Asker, askedBy, type Core, now, ok, ownCommand, type Result, record, refuse } from './core.ts'
import type { OptOuts } from './opt-outs.ts'
import { maskAddress } from './tracking.ts'

export type Erased = {
  readonly contact: string
  readonly messages: number
  readonly deliveriesCancelled: number
  readonly erasedAt: string
}
export type Erasure = {
  erase(asker: Asker, input: { contact: string }): Promise<Result<Erased>>
  /** What earlier processes recorded and did not complete: from the first moment on nobody finds those contacts any more. */
  recall(): void
  /** Does what is left of an erasure that was recorded. */
  complete(contactId: string): Promise<void>
}
export type ErasureOptions = {
  readonly core: Core
  readonly optOuts: Pick<OptOuts, 'keep'>
  /** Ends the unsettled deliveries that carry the contact's data; resolves with their number. */
  readonly cancelDeliveries: (tenantId: string, contactId: string) => Promise<number>
  /** Resolves when the thread of the batches seals nothing more for the contact, and what it has sealed is in the log. */
  readonly letGo: (contactId: string) => Promise<void>
  /** Removes the contact's stored media. */
  readonly removeMedia: (tenantId: string, contactId: string) => Promise<void>
}

/** The view knows what an erasure takes; one that is further behind leaves the rest to the reactor. */
const VIEW_MS = 10_000
const WAITING_AT_ONCE = 256
const erasureStream = (contactId: string): string => `erasure-${contactId}`

export function createErasure({ core, optOuts, cancelDeliveries, letGo, removeMedia }: ErasureOptions): Erasure {
  const { views, keyring, aggregates, log } = core

  async function failWaiting(tenantId: string, contactId: string): Promise<void> {
    for (;;) {
      const rows = views.waitingFor(tenantId, contactId, WAITING_AT_ONCE)
      let last = 0
      for (const row of rows) {
        const command = { type: 'FailWaiting', at: now(core), code: 'contact_erased' } as const
        const context = ownCommand(core, tenantId, 'erasure')
        const outcome = await aggregates.messages.ask(streamOf.message(row.messageId), command, context)
        if (outcome.ok && outcome.position !== null) last = outcome.position
      }
      // Those that could not be failed now fail when their turn comes, for their text is gone by then.
      if (rows.length < WAITING_AT_ONCE || last === 0) return
      await views.caughtUp(last)
    }
  }

  /** Resolves with the number of deliveries that ended. */
  async function finish({ contactId, tenantId, contactIds, streams }: ErasureRow): Promise<number> {
    let cancelled = 0
    for (const id of contactIds) {
      await failWaiting(tenantId, id)
      cancelled += await cancelDeliveries(tenantId, id)
      await removeMedia(tenantId, id)
    }
    await optOuts.keep(tenantId, streams)
    await Promise.all(contactIds.map(letGo))
    for (const stream of streams) await log.erase(stream)
    for (const id of contactIds) keyring.forgetContact(id)
    await recordCompletion(contactId, tenantId)
    return cancelled
  }

  async function recordCompletion(contactId: string, tenantId: string): Promise<void> {
    const event: ContactErasureCompleted = {
      type: 'ContactErasureCompleted',
      at: now(core),
      data: { contactId, tenantId }
    }
    for (let expected = 0; ; ) {
      const done = await record(
        core,
        erasureStream(contactId),
        expected,
        [event],
        ownCommand(core, tenantId, 'erasure')
      )
      if (done.kind === 'invalid') throw new LogUnavailable(`erasure not completed: ${done.reason}`)
      if (done.kind !== 'conflict') return
      // Completed by another hand, unless something was left over after that.
      await views.caughtUp(await log.head())
      if (views.erasure(contactId) === null) return
      expected = done.revision
    }
  }

  return {
    recall() {
      for (const { contactIds } of views.unfinishedErasures())
        for (const contactId of contactIds) {
          keyring.forgetContact(contactId)
          void letGo(contactId)
        }
    },
    async complete(contactId) {
      const left = views.erasure(contactId)
      if (left) await finish(left)
    },
    async erase(asker, { contact: address }) {
      const { tenantId } = asker
      const erasedAt = now(core)
      const masked = maskAddress(address)
      let contact = await keyring.findContact(tenantId, address)
      // Its key may still be on its way, and an erasure on record before it would find nothing to erase; or another was first.
      while (contact && (await keyring.isLost(contact.id))) contact = await keyring.findContact(tenantId, address)
      if (!contact) return ok({ contact: masked, messages: 0, deliveriesCancelled: 0, erasedAt })
      const contactId = contact.id
      await core.own.settled(tenantId)
      const linked = views.identities(contactId).contactIds.filter(id => id !== contactId)
      const event: ContactErased = {
        type: 'ContactErased',
        at: erasedAt,
        data: { contactId, tenantId, ...(linked.length === 0 ? {} : { linked }) }
      }
      const recorded = await record(core, erasureStream(contactId), NO_STREAM, [event], askedBy(asker))
      if (recorded.kind === 'invalid') throw new LogUnavailable(`erasure not recorded: ${recorded.reason}`)
      const position = recorded.kind === 'appended' ? recorded.position : await log.head()
      if (!(await views.caughtUp(position, VIEW_MS))) return refuse('overloaded')
      // The same erasure may be under way elsewhere: it is finished here too, which changes nothing.
      const left = views.erasure(contactId) ?? { contactId, tenantId, contactIds: [contactId, ...linked], streams: [] }
      const messages = left.contactIds.reduce((sum, id) => sum + views.messagesOf(tenantId, id), 0)
      return ok({ contact: masked, messages, deliveriesCancelled: await finish(left), erasedAt })
    }
  }
}
