/** A person goes by several addresses: phone number, platform user id, the form in which a platform knows the number (decisions §7). */
import type { Contact } from '../log/keys/contact-keys.ts'
import { type Core, now } from './core.ts'
import type { OptOuts } from './opt-outs.ts'

export type Identities = {
  /**
   * The contact has been seen to go by this address too. Resolves with whom both stand for from now on. What is known
   * already costs a look into memory. Throws LogUnavailable when the log cannot take it.
   */
  seen(contact: Contact, address: string): Promise<Contact>
}

export function createIdentities(core: Core, optOuts: Pick<OptOuts, 'join'>): Identities {
  const { keyring, own } = core
  return {
    async seen(contact, address) {
      if (keyring.isKnownAs(contact, address)) return contact
      // First, so that no link is ever without it: whoever opted out must not be reached in a roundabout way.
      await optOuts.join(contact.tenantId, contact.address, address)
      const { contact: both, position } = await keyring.link(contact, address, now(core))
      if (position !== null) own.wrote(contact.tenantId, position)
      return both
    }
  }
}
