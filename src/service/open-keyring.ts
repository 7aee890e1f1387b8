/** The keys of a log whose views are there: for each thread that seals or opens. */
import { seenEverything } from '../actors/core.ts'
import { createKeyring, type Keyring } from '../log/keyring.ts'
import { type MasterKey, masterKey } from '../log/keys/master-key.ts'
import type { EventLog } from '../log/port.ts'
import type { Views } from '../projections/port.ts'

/** The current one first. */
export type MasterKeys = readonly [Uint8Array, ...Uint8Array[]]
type Masters = readonly [MasterKey, ...MasterKey[]]

export function mastersOf([current, ...previous]: MasterKeys): Masters {
  const open = (key: Uint8Array): MasterKey => masterKey(Buffer.from(key))
  return [open(current), ...previous.map(open)]
}

export function openKeyring(log: EventLog, views: Views, masters: Masters): Keyring {
  return createKeyring({
    log,
    masters,
    async contactStream(contactId) {
      const known = views.contactStream(contactId)
      if (known !== null) return known
      // Whoever is not known would count as erased, and what is sealed for him be left out for good.
      await seenEverything({ log, views })
      return views.contactStream(contactId)
    }
  })
}
