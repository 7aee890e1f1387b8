/**
 * Who can read what. Tenant keys and contact keys live in key streams (`keys-…`); here they are found, cached and used.
 * No view or snapshot ever holds one; erasing a contact's key stream makes everything sealed under it unreadable.
 */
import { LRUCache } from 'lru-cache'
import type { TenantKeysCreated } from '../domain/record.ts'
import { decrypt, encrypt } from './encryption.ts'
import { type Contact, createContactKeys, indexOfStream } from './keys/contact-keys.ts'
import { appendKeyEvent, keyEventId } from './keys/key-event.ts'
import type { MasterKey } from './keys/master-key.ts'
import {
  contactIndex,
  GENERATIONS_MAX,
  newTenantKeys,
  type TenantKeys,
  tenantKeyStream,
  unwrapTenantKeys,
  wrapTenantKeys
} from './keys/tenant-keys.ts'
import { type EventLog, type Need, NO_STREAM } from './port.ts'

export type Keyring = {
  /** Makes the tenant's keys; harmless when they exist. */
  createTenant(tenantId: string, at: string): Promise<TenantKeys>
  /** Rejects when the tenant has no keys or no master key opens them. */
  tenant(tenantId: string): Promise<TenantKeys>
  /** The tenant's keys when they are at hand: the hot path's form. */
  tenantAtHand(tenantId: string): TenantKeys | undefined
  /**
   * The contact of this address; its key is made when it is new. Where the log is ordered the key may still be on its way:
   * what is sealed under it then needs it (`needOf`). `isBulk`: as for appends.
   */
  ensureContact(tenantId: string, address: string, at: string, isBulk?: boolean): Contact | Promise<Contact>
  /** Null when nobody of this address is known, or it was erased. */
  findContact(tenantId: string, address: string): Promise<Contact | null>
  /** By id; null when it was erased. */
  contact(tenantId: string, contactId: string): Promise<Contact | null>
  /** True when memory says that the contact goes by this address; false: the log may know better. */
  isKnownAs(contact: Contact, address: string): boolean
  /** From now on the contact goes by this address too (decisions §7). Harmless when repeated. */
  link(contact: Contact, address: string, at: string): Promise<Linked>
  /** Drops what is cached of a contact: another node linked it with somebody. */
  reread(contactId: string): void
  /** Drops what is cached of a contact (it was erased here or elsewhere). */
  forgetContact(contactId: string): void
  /** The event that must be in the log before anything sealed for this subject; undefined when it is there. */
  needOf(subject: string): Need | undefined
  /** Resolves when the contact's key is in the log, or will never be: what is appended then comes after it. */
  settled(contactId: string): Promise<void>
  /** The same, and whether it will never be: then another thread's key for the same address was first, or nothing can be written. */
  isLost(contactId: string): Promise<boolean>
  /** `subject`: a contact id or `tenant`. Null when that contact was erased. A promise when its key is not at hand. */
  seal(tenantId: string | null, subject: string, plain: unknown, context: string): string | Promise<string | null>
  open(tenantId: string | null, subject: string, sealed: string, context: string): Promise<unknown>
}

/** Whom both addresses stand for now; `position` of what was recorded, null when nothing was. */
export type Linked = { readonly contact: Contact; readonly position: number | null }

export type KeyringOptions = {
  readonly log: EventLog
  readonly masters: readonly [MasterKey, ...MasterKey[]]
  /** From the contacts view: the key stream of a contact id, null when it has none (any more). */
  readonly contactStream: (contactId: string) => Promise<string | null> | string | null
  readonly cachedContacts?: number
}

const CACHED_CONTACTS = 50_000
const CACHED_TENANTS = 5_000

/** `isLinked`: its key opens what was sealed under it, but its address is another contact's. */
type Held = { readonly contact: Contact; readonly isLinked: boolean }

export function createKeyring(options: KeyringOptions): Keyring {
  const { log, masters } = options
  const [master] = masters
  const tenants = new LRUCache<string, TenantKeys>({ max: CACHED_TENANTS })
  const max = options.cachedContacts ?? CACHED_CONTACTS
  const byId = new LRUCache<string, Held>({ max })
  /** By `<tenant id>.<blind index>`: the id of the contact that the address stands for. */
  const byIndex = new LRUCache<string, string>({ max })
  const forgotten = new LRUCache<string, true>({ max })
  /** Counts links: what was read while one came may be out of date, and is not kept. */
  let links = 0
  const contactKeys = createContactKeys({
    log,
    isErased: contactId => forgotten.has(contactId),
    onLost({ id, tenantId, stream }) {
      const name = `${tenantId}.${indexOfStream(stream)}`
      if (byIndex.get(name) === id) byIndex.delete(name)
    }
  })
  const once = shared()
  /** Addresses that are being given to a contact: nobody makes a contact of them meanwhile, whose key would be lost. */
  const linking = new Map<string, Promise<void>>()

  function heldAt(name: string): Contact | undefined {
    const id = byIndex.get(name)
    const held = id === undefined ? undefined : byId.get(id)
    return held && !held.isLinked ? held.contact : undefined
  }

  function remember(name: string, contact: Contact): void {
    if (forgotten.has(contact.id)) return
    byId.set(contact.id, { contact, isLinked: false })
    if (!contactKeys.isLost(contact.id)) byIndex.set(name, contact.id)
  }

  /** Whoever stands at the address, from memory or as `read` finds it. */
  async function standing<T extends Contact | null>(name: string, read: () => Promise<T>): Promise<T | Contact> {
    const held = heldAt(name)
    if (held) return held
    const seen = links
    const found = await read()
    if (found && seen === links) remember(name, found)
    return found
  }

  /** Each `keys rewrap` erases the generation before its own, so the live one can be any. */
  async function tenant(tenantId: string): Promise<TenantKeys> {
    const held = tenants.get(tenantId)
    if (held) return held
    let closed = false
    for (let generation = 1; generation <= GENERATIONS_MAX; generation++) {
      const stored = await tenantKeysAt(log, tenantKeyStream(tenantId, generation))
      if (!stored) continue
      const keys = unwrapTenantKeys(masters, stored)
      if (keys) {
        tenants.set(tenantId, keys)
        return keys
      }
      closed = true
    }
    throw new Error(closed ? `no MASTER_KEY opens the keys of tenant ${tenantId}` : `tenant ${tenantId} has no keys`)
  }

  async function createTenant(tenantId: string, at: string): Promise<TenantKeys> {
    const keys = newTenantKeys(tenantId)
    const wrapped = wrapTenantKeys(master, keys)
    const event: TenantKeysCreated = {
      type: 'TenantKeysCreated',
      at,
      data: { tenantId, generation: keys.generation, wrapped, masterKeyId: master.id }
    }
    const stream = tenantKeyStream(tenantId, keys.generation)
    await appendKeyEvent(log, stream, NO_STREAM, { id: keyEventId(at), event }, tenantId)
    return tenant(tenantId)
  }

  /** The hot path: nothing is awaited for a contact that is known here, or that nobody has seen before. */
  function ensureContact(tenantId: string, address: string, at: string, isBulk = false): Contact | Promise<Contact> {
    const keys = tenants.get(tenantId)
    if (!keys) return tenant(tenantId).then(() => ensureContact(tenantId, address, at, isBulk))
    const index = contactIndex(keys, address)
    const name = `${tenantId}.${index}`
    const held = heldAt(name)
    if (held) return held
    const begun = isBusy(name) ? null : contactKeys.begin(keys, index, address, at, isBulk)
    if (!begun) return ensureByReading(name, () => contactKeys.ensure(keys, index, address, at, isBulk))
    remember(name, begun)
    return begun
  }

  /** Somebody is reading or linking whoever stands at the address. */
  const isBusy = (name: string): boolean => linking.has(name) || once.isUnderWay(name)

  async function ensureByReading(name: string, ensure: () => Promise<Contact>): Promise<Contact> {
    for (let busy = linking.get(name); busy; busy = linking.get(name)) await busy
    return once(name, () => standing(name, ensure))
  }

  async function findContact(tenantId: string, address: string): Promise<Contact | null> {
    const keys = await tenant(tenantId)
    const index = contactIndex(keys, address)
    return standing(`${tenantId}.${index}`, () => contactKeys.find(keys, index))
  }

  async function contact(tenantId: string, contactId: string): Promise<Contact | null> {
    const held = byId.get(contactId)
    if (held) return held.contact.tenantId === tenantId ? held.contact : null
    const stream = await options.contactStream(contactId)
    if (stream === null) return null
    const keys = await tenant(tenantId)
    const seen = links
    const found = await contactKeys.own(keys, stream)
    if (!found || forgotten.has(contactId)) return null
    if (seen === links) byId.set(contactId, found)
    return found.contact.tenantId === tenantId ? found.contact : null
  }

  async function link(known: Contact, address: string, at: string): Promise<Linked> {
    const keys = tenants.get(known.tenantId) ?? (await tenant(known.tenantId))
    const index = contactIndex(keys, address)
    const name = `${known.tenantId}.${index}`
    if (heldAt(name)?.id === known.id) return { contact: known, position: null }
    const work = contactKeys.link(keys, known, index, at)
    const done = (): void => {
      if (linking.get(name) === over) linking.delete(name)
    }
    const over: Promise<void> = work.then(done, done)
    linking.set(name, over)
    const linked = await work
    if (!linked) return { contact: known, position: null }
    if (linked.former !== null) reread(linked.former)
    remember(name, linked.contact)
    return linked
  }

  function reread(contactId: string): void {
    links++
    byId.delete(contactId)
  }

  async function keyOf(tenantId: string | null, subject: string): Promise<Buffer | null> {
    if (tenantId === null) throw new Error('an event without a tenant cannot have a sealed part')
    if (subject === 'tenant') return (await tenant(tenantId)).encryption
    return (await contact(tenantId, subject))?.key ?? null
  }

  async function sealByReading(tenantId: string | null, subject: string, plain: unknown, context: string) {
    const key = await keyOf(tenantId, subject)
    return key && sealUnder(key, plain, context)
  }

  return {
    createTenant,
    tenant,
    tenantAtHand: tenantId => tenants.get(tenantId),
    ensureContact,
    findContact,
    contact,
    isKnownAs({ id, tenantId }, address) {
      const keys = tenants.get(tenantId)
      return keys !== undefined && heldAt(`${tenantId}.${contactIndex(keys, address)}`)?.id === id
    },
    link: (known, address, at) => once(`${known.id} ${address}`, () => link(known, address, at)),
    reread,
    forgetContact(contactId) {
      forgotten.set(contactId, true)
      // The key is not overwritten: whoever holds it this moment would seal under zeros.
      byId.delete(contactId)
    },
    needOf: contactKeys.needOf,
    settled: contactKeys.settled,
    async isLost(contactId) {
      await contactKeys.settled(contactId)
      return contactKeys.isLost(contactId)
    },
    seal(tenantId, subject, plain, context) {
      const key = byId.get(subject)?.contact.key
      return key ? sealUnder(key, plain, context) : sealByReading(tenantId, subject, plain, context)
    },
    async open(tenantId, subject, sealed, context) {
      const key = await keyOf(tenantId, subject)
      if (key === null) return null
      const plain = decrypt(key, sealed, context)
      if (plain === null) throw new Error('a sealed part does not open under the key of its subject')
      return JSON.parse(plain.toString())
    }
  }
}

const sealUnder = (key: Buffer, plain: unknown, context: string): string => encrypt(key, JSON.stringify(plain), context)

async function tenantKeysAt(log: EventLog, stream: string): Promise<TenantKeysCreated['data'] | null> {
  for await (const event of log.read(stream, { limit: 1 }))
    return (JSON.parse(event.body) as { data: TenantKeysCreated['data'] }).data
  return null
}

type Shared = {
  <T>(name: string, work: () => Promise<T>): Promise<T>
  isUnderWay(name: string): boolean
}

/** Requests for the same thing at the same time share one piece of work. */
function shared(): Shared {
  const underWay = new Map<string, Promise<unknown>>()
  const once = <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const running = underWay.get(name)
    if (running) return running as Promise<T>
    const started = work().finally(() => underWay.delete(name))
    underWay.set(name, started)
    return started
  }
  return Object.assign(once, { isUnderWay: (name: string) => underWay.has(name) })
}
