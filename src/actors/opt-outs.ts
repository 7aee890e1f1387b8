/** Contacts that want no more messages of a tenant: by keyword or through the platform. Kept as a keyed hash (decisions §4, erasure). */
import type { ContactOptedIn, ContactOptedOut } from '../domain/record.ts'
import { contactIndex } from '../log/keys/tenant-keys.ts'
import { NO_STREAM } from '../log/port.ts'
import { type Core, now, ownCommand, record } from './core.ts'

export type OptOuts = {
  has(tenantId: string, address: string): Promise<boolean>
  set(
    tenantId: string,
    address: string,
    wish: { out: boolean; by: 'keyword' | 'platform' },
    trace: string
  ): Promise<void>
  /** What an inbound text asks for: exactly a keyword, apart from case and space around it. Null: nothing. */
  wishOf(text: string): { out: boolean; by: 'keyword' } | null
}
export type OptOutWords = { readonly out: readonly string[]; readonly in: readonly string[] }

const CONFLICTS_MAX = 5

export function createOptOuts(core: Core, words: OptOutWords): OptOuts {
  const indexOf = async (tenantId: string, address: string): Promise<string> =>
    contactIndex(await core.keyring.tenant(tenantId), address)

  return {
    async has(tenantId, address) {
      return core.views.isOptedOut(tenantId, await indexOf(tenantId, address))
    },
    async set(tenantId, address, { out, by }, trace) {
      const index = await indexOf(tenantId, address)
      await core.own.settled(tenantId)
      if (core.views.isOptedOut(tenantId, index) === out) return
      const event: ContactOptedOut | ContactOptedIn = {
        type: out ? 'ContactOptedOut' : 'ContactOptedIn',
        at: now(core),
        data: { tenantId, index, by }
      }
      const context = ownCommand(core, tenantId, 'callback', { trace })
      let expected = NO_STREAM
      for (let tries = 0; tries < CONFLICTS_MAX; tries++) {
        const result = await record(core, `optout-${tenantId}.${index}`, expected, [event], context)
        if (result.kind !== 'conflict') return
        expected = result.revision
      }
    },
    wishOf(text) {
      const word = text.trim().toLowerCase()
      if (words.out.includes(word)) return { out: true, by: 'keyword' }
      // Without keywords to opt out, nobody needs one to come back.
      return words.out.length > 0 && words.in.includes(word) ? { out: false, by: 'keyword' } : null
    }
  }
}
