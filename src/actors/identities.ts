/** A person goes by several addresses: phone number, platform user id, the form in which a platform knows the number (decisions §7). */
import type { Contact } from '../log/keys/contact-keys.ts'
import { type Core, now, seenEverything } from './core.ts'
import type { OptOuts } from './opt-outs.ts'

export type Identities = {
  /**
   * The contact has been seen by this number to go by that address too. Resolves with whom both stand for from now on. What
   * is known already costs a look into memory. Throws LogUnavailable when the log cannot take it.
   */
  seen(channel: { readonly number: string | null }, contact: Contact, address: string): Promise<Contact>
}

/** More than anybody has. Links are for ever, so that a platform's mistake must not make one person of everybody. */
const ADDRESSES_MAX = 16

export function createIdentities(core: Core, optOuts: Pick<OptOuts, 'join'>): Identities {
  const { keyring, views, own, logger } = core
  return {
    async seen(channel, contact, address) {
      // What names the number itself names its own side of a conversation, whatever field it came in.
      if (address === channel.number || keyring.isKnownAs(contact, address)) return contact
      await seenEverything(core)
      if (views.identities(contact.id).streams.length >= ADDRESSES_MAX) {
        logger.warn({ contactId: contact.id }, 'a contact has as many addresses as one can have: it gets no more')
        return contact
      }
      // First, so that no link is ever without it: whoever opted out must not be reached in a roundabout way.
      await optOuts.join(contact.tenantId, contact.address, address)
      const { contact: both, position } = await keyring.link(contact, address, now(core))
      if (position !== null) own.wrote(contact.tenantId, position)
      return both
    }
  }
}
