/**
 * Erasure of a contact (decisions §4, §8.2): recorded first, then what waits for it ends, then its key stream is erased,
 * and everything sealed under that key is unreadable for good. A crash in between is completed by the reactor.
 */
import type { ContactErased, ContactErasureCompleted } from '../domain/record.ts'
import { LogUnavailable, NO_STREAM } from '../log/port.ts'
import { streamOf } from './aggregates.ts'
import { type Asker, askedBy, type Core, now, ok, ownCommand, type Result, record } from './core.ts'
import { maskAddress } from './tracking.ts'

export type Erased = {
  readonly contact: string
  readonly messages: number
  readonly deliveriesCancelled: number
  readonly erasedAt: string
}
export type Erasure = {
  erase(asker: Asker, input: { contact: string }): Promise<Result<Erased>>
  /** Does what is left of an erasure that was recorded. */
  complete(contactId: string, tenantId: string, keyStream: string | null): Promise<number>
}
export type ErasureOptions = {
  readonly core: Core
  /** Ends the unsettled deliveries that carry the contact's data; resolves with their number. */
  readonly cancelDeliveries: (tenantId: string, contactId: string) => Promise<number>
  /** Removes the contact's stored media. */
  readonly removeMedia: (tenantId: string, contactId: string) => Promise<void>
}

const WAITING_AT_ONCE = 256
const erasureStream = (contactId: string): string => `erasure-${contactId}`

export function createErasure({ core, cancelDeliveries, removeMedia }: ErasureOptions): Erasure {
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

  async function complete(contactId: string, tenantId: string, keyStream: string | null): Promise<number> {
    await failWaiting(tenantId, contactId)
    const cancelled = await cancelDeliveries(tenantId, contactId)
    await removeMedia(tenantId, contactId)
    if (keyStream !== null) await log.erase(keyStream)
    keyring.forgetContact(contactId)
    const event: ContactErasureCompleted = {
      type: 'ContactErasureCompleted',
      at: now(core),
      data: { contactId, tenantId }
    }
    const done = await record(core, erasureStream(contactId), 0, [event], ownCommand(core, tenantId, 'erasure'))
    if (done.kind === 'invalid') throw new LogUnavailable(`erasure not completed: ${done.reason}`)
    return cancelled
  }

  return {
    complete,
    async erase(asker, { contact: address }) {
      const { tenantId } = asker
      const erasedAt = now(core)
      const masked = maskAddress(address)
      const contact = await keyring.findContact(tenantId, address)
      if (!contact) return ok({ contact: masked, messages: 0, deliveriesCancelled: 0, erasedAt })
      await core.own.settled(tenantId)
      const messages = views.messagesOf(tenantId, contact.id)
      const event: ContactErased = { type: 'ContactErased', at: erasedAt, data: { contactId: contact.id, tenantId } }
      const recorded = await record(core, erasureStream(contact.id), NO_STREAM, [event], askedBy(asker))
      // A conflict: the same erasure is under way; it is finished here too, which changes nothing.
      if (recorded.kind === 'invalid') throw new LogUnavailable(`erasure not recorded: ${recorded.reason}`)
      const deliveriesCancelled = await complete(contact.id, tenantId, contact.stream)
      return ok({ contact: masked, messages, deliveriesCancelled, erasedAt })
    }
  }
}
