/**
 * Persons who want no more messages of a tenant: by keyword or through the platform. Kept as keyed hashes, one for each
 * address that is known of them (decisions §4, erasure; §7).
 */
import { providerTime } from '../domain/event.ts'
import type { ContactOptedIn, ContactOptedOut, OptOutSource } from '../domain/record.ts'
import { type Decoded, decode } from '../log/codec.ts'
import { indexOfStream } from '../log/keys/contact-keys.ts'
import { contactIndex } from '../log/keys/tenant-keys.ts'
import { LogUnavailable, NO_STREAM } from '../log/port.ts'
import { type Core, now, ownCommand, record, seenEverything } from './core.ts'

export type Wish = {
  readonly out: boolean
  readonly by: OptOutSource
  /** The platform's time of it; null where there is none. */
  readonly toldAt: string | null
}
export type OptOuts = {
  has(tenantId: string, address: string): Promise<boolean>
  /** `addresses`: those named at once; all others that are known of the same person follow. */
  set(tenantId: string, addresses: readonly string[], wish: Wish, trace: string | null): Promise<void>
  /** Two addresses are about to be one person's: who has opted out under one has done so under both. */
  join(tenantId: string, one: string, other: string): Promise<void>
  /** The key streams of a person are about to go: an opt-out stands for each of the addresses from then on. */
  keep(tenantId: string, streams: readonly string[]): Promise<void>
  /** What an inbound text asks for: exactly a keyword, apart from case and space around it. Null: nothing. */
  wishOf(text: string): { out: boolean; by: 'keyword' } | null
}
export type OptOutWords = { readonly out: readonly string[]; readonly in: readonly string[] }

type Wished = ContactOptedOut | ContactOptedIn

const CONFLICTS_MAX = 5

export function createOptOuts(core: Core, words: OptOutWords): OptOuts {
  const { views, keyring } = core

  const indexOf = async (tenantId: string, address: string): Promise<string> =>
    contactIndex(await keyring.tenant(tenantId), address)

  /** Indexes of every address of whoever goes by this one. */
  async function indexesOf(tenantId: string, address: string): Promise<readonly string[]> {
    const contact = await keyring.findContact(tenantId, address)
    const known = contact ? views.identities(contact.id).streams.map(indexOfStream) : []
    return [await indexOf(tenantId, address), ...known]
  }

  async function lastWish(stream: string): Promise<Decoded<Wished> | null> {
    for await (const recorded of core.log.read(stream, { direction: 'backwards', limit: 1 }))
      return decode<Wished>(recorded)
    return null
  }

  /** Decided on the stream itself: another wish of the same person may be under way, here or on another node. */
  async function note(tenantId: string, index: string, wish: Wish, trace: string | null): Promise<void> {
    const stream = `optout-${tenantId}.${index}`
    const { out, by } = wish
    const at = now(core)
    const event: Wished = {
      type: out ? 'ContactOptedOut' : 'ContactOptedIn',
      at,
      // A clock that is ahead must not bind the person until then.
      ...providerTime(wish.toldAt !== null && wish.toldAt > at ? at : wish.toldAt),
      data: { tenantId, index, by }
    }
    const context = ownCommand(core, tenantId, 'callback', { trace })
    for (let tries = 0; tries < CONFLICTS_MAX; tries++) {
      const last = await lastWish(stream)
      if (last ? isOld(event, last) : !out) return
      const result = await record(core, stream, last?.revision ?? NO_STREAM, [event], context)
      if (result.kind !== 'conflict') return
    }
    throw new LogUnavailable('others keep recording what the person wishes')
  }

  async function has(tenantId: string, address: string): Promise<boolean> {
    return views.isOptedOut(tenantId, await indexOf(tenantId, address))
  }

  async function set(tenantId: string, addresses: readonly string[], wish: Wish, trace: string | null): Promise<void> {
    // Which addresses are one person's stands in the views: an older answer would miss one.
    await seenEverything(core)
    const indexes = await Promise.all(addresses.map(address => indexesOf(tenantId, address)))
    for (const index of new Set(indexes.flat())) await note(tenantId, index, wish, trace)
  }

  return {
    has,
    set,
    async join(tenantId, one, other) {
      await seenEverything(core)
      const [isOut, isOtherOut] = await Promise.all([has(tenantId, one), has(tenantId, other)])
      if (isOut === isOtherOut) return
      await set(tenantId, [isOut ? other : one], { out: true, by: 'link', toldAt: null }, null)
    },
    async keep(tenantId, streams) {
      await seenEverything(core)
      const indexes = streams.map(indexOfStream)
      if (!indexes.some(index => views.isOptedOut(tenantId, index))) return
      for (const index of indexes) await note(tenantId, index, { out: true, by: 'link', toldAt: null }, null)
    },
    wishOf(text) {
      const word = text.trim().toLowerCase()
      if (words.out.includes(word)) return { out: true, by: 'keyword' }
      // Without keywords to opt out, nobody needs one to come back.
      return words.out.length > 0 && words.in.includes(word) ? { out: false, by: 'keyword' } : null
    }
  }
}

/**
 * A callback may come late, or again, after one that was told later: by the platform's time the last wish stands. One that
 * changes nothing is recorded all the same when it is newer, or else it could not outlast an older one that is on its way.
 */
function isOld(wish: Wished, last: Wished): boolean {
  if (wish.providerAt === undefined || last.providerAt === undefined) return wish.type === last.type
  return wish.providerAt < last.providerAt || (wish.providerAt === last.providerAt && wish.type === last.type)
}
