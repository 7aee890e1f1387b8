/** A keyring on a log in memory, with the contacts view that it asks. */
import { createKeyring, type Keyring } from '../../src/log/keyring.ts'
import { type MasterKey, masterKey } from '../../src/log/keys/master-key.ts'
import type { EventLog } from '../../src/log/port.ts'
import { openMemoryLog } from '../../src/log/sqlite/local.ts'

type Scope = { teardown(run: () => unknown): unknown }

export const testMaster = (byte: number): MasterKey => masterKey(Buffer.alloc(32, byte))

export type Keys = {
  readonly log: EventLog
  readonly keyring: Keyring
  /** One more keyring on the same log, as another process has it. */
  another(masters?: readonly [MasterKey, ...MasterKey[]]): Keyring
  /** As the service erases: the stream first, then what this keyring holds. */
  eraseContact(contactId: string): Promise<void>
}

/** `ordered`: nobody else writes to the log, as on one machine. */
export function openKeys(t: Scope, { ordered = false } = {}): Keys {
  const { ordered: order, ...others } = openMemoryLog()
  const log: EventLog = ordered && order ? { ...others, ordered: order } : others
  t.teardown(() => log.close())

  async function contactStream(contactId: string): Promise<string | null> {
    const head = await log.head()
    for (let position = 1; position <= head; position++) {
      const event = await log.at(position)
      if (event?.type !== 'ContactKeyCreated') continue
      const { data } = JSON.parse(event.body) as { data: { contactId: string } }
      if (data.contactId === contactId) return event.stream
    }
    return null
  }

  const another = (masters: readonly [MasterKey, ...MasterKey[]] = [testMaster(1)]): Keyring =>
    createKeyring({ log, masters, contactStream })
  const keyring = another()
  return {
    log,
    keyring,
    another,
    async eraseContact(contactId) {
      const stream = await contactStream(contactId)
      if (stream === null) throw new Error('there is no such contact')
      await log.erase(stream)
      keyring.forgetContact(contactId)
    }
  }
}
