/**
 * Who can read what. Tenant keys and contact keys live in key streams (`keys-…`); here they are created, found, cached and used.
 * No view or snapshot ever holds one; erasing a contact's key stream makes everything sealed under it unreadable.
 */
import { LRUCache } from 'lru-cache'
import type { Event } from '../domain/event.ts'
import { derivedId, timeOrderedId } from '../domain/ids.ts'
import type { ContactKeyCreated, TenantKeysCreated } from '../domain/record.ts'
import { eventId } from './codec.ts'
import { decrypt, encrypt, KEY_BYTES } from './encryption.ts'
import { entropy } from './entropy.ts'
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
import { type EventLog, type Need, NO_STREAM, type RecordedEvent } from './port.ts'

export type Contact = {
  readonly id: string
  readonly tenantId: string
  readonly stream: string
  readonly key: Buffer
  readonly address: string
}

export type Keyring = {
  /** Makes the tenant's keys; harmless when they exist. */
  createTenant(tenantId: string, at: string): Promise<TenantKeys>
  /** Rejects when the tenant has no keys or no master key opens them. */
  tenant(tenantId: string): Promise<TenantKeys>
  /** The tenant's keys when they are at hand: the hot path's form. */
  tenantAtHand(tenantId: string): TenantKeys | undefined
  /**
   * The contact of this address; its key is made when it is new. Where the log is ordered the key may still be on its way:
   * what is sealed under it then needs it (`needOf`).
   */
  ensureContact(tenantId: string, address: string, at: string): Promise<Contact>
  /** Null when nobody of this address is known, or it was erased. */
  findContact(tenantId: string, address: string): Promise<Contact | null>
  /** By id; null when it was erased. */
  contact(tenantId: string, contactId: string): Promise<Contact | null>
  /** Drops what is cached of a contact (it was erased here or elsewhere). */
  forgetContact(contactId: string): void
  /** The event that must be in the log before anything sealed for this subject; undefined when it is there. */
  needOf(subject: string): Need | undefined
  /** `subject`: a contact id or `tenant`. Null when that contact was erased. */
  seal(tenantId: string | null, subject: string, plain: unknown, context: string): Promise<string | null>
  open(tenantId: string | null, subject: string, sealed: string, context: string): Promise<unknown>
}

export type KeyringOptions = {
  readonly log: EventLog
  readonly masters: readonly [MasterKey, ...MasterKey[]]
  /** From the contacts view: the key stream of a contact id, null when it has none (any more). */
  readonly contactStream: (contactId: string) => Promise<string | null> | string | null
  readonly cachedContacts?: number
}

const CACHED_CONTACTS = 50_000
/** 26 characters of base32 take 130 bits. */
const ID_BYTES = 17
const CACHED_TENANTS = 5_000
const LOST_MAX = 50_000
/**
 * An erased stream reads like one that never was. So many generations of a contact without a trace mean that there is none.
 * A contact erased more often is still found where it matters: `ensureContact` appends, and learns it from the log.
 */
const UNSEEN_GENERATIONS_MAX = 8

export function createKeyring(options: KeyringOptions): Keyring {
  const { log, masters } = options
  const [master] = masters
  const tenants = new LRUCache<string, TenantKeys>({ max: CACHED_TENANTS })
  const max = options.cachedContacts ?? CACHED_CONTACTS
  const byId = new LRUCache<string, Contact>({ max })
  /** By `<tenant id>.<blind index>`: the newest generation only, whichever it is. */
  const byIndex = new LRUCache<string, Contact>({ max })
  /** A read that was under way when its contact was erased must not bring the key back. */
  const forgotten = new LRUCache<string, true>({ max })
  /** By contact id: keys on their way to an ordered log. */
  const unsettled = new Map<string, Need>()
  /** Those that did not get there. What was sealed under one is appended within moments, and then refused. */
  const lost = new LRUCache<string, Need>({ max: LOST_MAX })
  /** Two requests for the same new contact share one creation. */
  const underway = new Map<string, Promise<Contact>>()

  const remember = (contact: Contact): Contact => {
    if (forgotten.has(contact.id)) return contact
    byId.set(contact.id, contact)
    byIndex.set(cacheName(contact), contact)
    return contact
  }

  /** Each `keys rewrap` erases the generation before its own, so the live one can be any. */
  async function tenant(tenantId: string): Promise<TenantKeys> {
    const held = tenants.get(tenantId)
    if (held) return held
    let closed = false
    for (let generation = 1; generation <= GENERATIONS_MAX; generation++) {
      const event = await first(tenantKeyStream(tenantId, generation))
      if (!event) continue
      const keys = unwrapTenantKeys(masters, dataOf<TenantKeysCreated>(event))
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
    await append(log, stream, eventId(stream, entropy(10).toString('hex'), 0, at), event, tenantId)
    return tenant(tenantId)
  }

  async function readContact(keys: TenantKeys, stream: string): Promise<Contact | null> {
    const event = await first(stream)
    if (!event) return null
    const data = dataOf<ContactKeyCreated>(event)
    if (forgotten.has(data.contactId)) return null
    const key = decrypt(keys.encryption, data.wrapped, data.contactId)
    if (!key) throw new Error(`the key of contact ${data.contactId} does not open`)
    const sealed = (JSON.parse(event.body) as { sealed: string }).sealed
    const plain = decrypt(key, sealed, event.id)
    if (!plain) throw new Error(`the key stream of contact ${data.contactId} was altered`)
    const { address } = JSON.parse(plain.toString()) as { address: string }
    return remember({ id: data.contactId, tenantId: keys.tenantId, stream, key, address })
  }

  async function createContact(keys: TenantKeys, index: string, address: string, at: string): Promise<Contact> {
    for (let generation = 1; generation <= GENERATIONS_MAX; generation++) {
      const stream = contactStream(keys.tenantId, index, generation)
      const standing = log.ordered?.standing(stream) ?? (log.numberOf(stream) === null ? 'unknown' : 'live')
      if (standing === 'erased') continue
      if (standing === 'live') {
        const found = await readContact(keys, stream)
        if (found) return found
      }
      const contact = newContact(keys, stream, address)
      const event: ContactKeyCreated = {
        type: 'ContactKeyCreated',
        at,
        data: {
          contactId: contact.id,
          tenantId: keys.tenantId,
          index,
          wrapped: encrypt(keys.encryption, contact.key, contact.id)
        },
        subject: contact.id,
        sealed: { address }
      }
      const id = timeOrderedId('evt', Date.parse(at), entropy(10))
      const appended = append(log, stream, id, event, keys.tenantId, contact.key)
      if (standing === 'none') {
        settleLater(contact, { stream, eventId: id }, appended)
        return remember(contact)
      }
      const outcome = await appended
      if (outcome === 'appended') return remember(contact)
      if (outcome === 'conflict') {
        const found = await readContact(keys, stream)
        if (found) return found
      }
      // Deleted: that generation was erased, the contact starts anew with the next one.
    }
    throw new Error('a contact was erased more often than generations are kept')
  }

  /** Until the key is in the log, all that is sealed under it needs it, and for ever when it does not get there. */
  function settleLater(contact: Contact, need: Need, appended: Promise<string>): void {
    unsettled.set(contact.id, need)
    const settled = (isThere: boolean): void => {
      unsettled.delete(contact.id)
      if (isThere) return
      lost.set(contact.id, need)
      if (byIndex.get(cacheName(contact)) === contact) byIndex.delete(cacheName(contact))
    }
    appended.then(
      outcome => settled(outcome === 'appended'),
      () => settled(false)
    )
  }

  async function ensureContact(tenantId: string, address: string, at: string): Promise<Contact> {
    const keys = tenants.get(tenantId) ?? (await tenant(tenantId))
    const index = contactIndex(keys, address)
    const name = `${tenantId}.${index}`
    const held = byIndex.get(name)
    if (held) return held
    const running = underway.get(name)
    if (running) return running
    const creation = createContact(keys, index, address, at).finally(() => underway.delete(name))
    underway.set(name, creation)
    return creation
  }

  async function findContact(tenantId: string, address: string): Promise<Contact | null> {
    const keys = await tenant(tenantId)
    const index = contactIndex(keys, address)
    const held = byIndex.get(`${tenantId}.${index}`)
    if (held) return held
    let unseen = 0
    for (let generation = 1; generation <= GENERATIONS_MAX && unseen < UNSEEN_GENERATIONS_MAX; generation++) {
      const stream = contactStream(tenantId, index, generation)
      const found = await readContact(keys, stream)
      if (found) return found
      unseen = log.numberOf(stream) === null ? unseen + 1 : 0
    }
    return null
  }

  async function contact(tenantId: string, contactId: string): Promise<Contact | null> {
    const held = byId.get(contactId)
    if (held) return held.tenantId === tenantId ? held : null
    const stream = await options.contactStream(contactId)
    if (stream === null) return null
    const keys = await tenant(tenantId)
    const found = await readContact(keys, stream)
    return found?.tenantId === tenantId ? found : null
  }

  async function keyOf(tenantId: string | null, subject: string): Promise<Buffer | null> {
    if (tenantId === null) throw new Error('an event without a tenant cannot have a sealed part')
    if (subject === 'tenant') return (await tenant(tenantId)).encryption
    return (await contact(tenantId, subject))?.key ?? null
  }

  return {
    createTenant,
    tenant,
    tenantAtHand: tenantId => tenants.get(tenantId),
    ensureContact,
    findContact,
    contact,
    forgetContact(contactId) {
      forgotten.set(contactId, true)
      const held = byId.get(contactId)
      if (!held) return
      // The key is not overwritten: whoever holds it this moment would seal under zeros.
      byId.delete(contactId)
      if (byIndex.get(cacheName(held))?.id === contactId) byIndex.delete(cacheName(held))
    },
    needOf: subject => unsettled.get(subject) ?? lost.get(subject),
    async seal(tenantId, subject, plain, context) {
      const key = byId.get(subject)?.key ?? (await keyOf(tenantId, subject))
      return key === null ? null : encrypt(key, JSON.stringify(plain), context)
    },
    async open(tenantId, subject, sealed, context) {
      const key = await keyOf(tenantId, subject)
      if (key === null) return null
      const plain = decrypt(key, sealed, context)
      if (plain === null) throw new Error('a sealed part does not open under the key of its subject')
      return JSON.parse(plain.toString())
    }
  }

  async function first(stream: string): Promise<RecordedEvent | null> {
    for await (const event of log.read(stream, { limit: 1 })) return event
    return null
  }
}

/** The key stream's name without `keys-` and the generation. */
const cacheName = ({ stream }: Contact): string => stream.slice('keys-'.length, stream.lastIndexOf('.'))

const contactStream = (tenantId: string, index: string, generation: number): string =>
  `keys-${tenantId}.${index}.${generation}`

function newContact(keys: TenantKeys, stream: string, address: string): Contact {
  const id = derivedId('ct', entropy(ID_BYTES))
  return { id, tenantId: keys.tenantId, stream, key: entropy(KEY_BYTES), address }
}

const dataOf = <E extends Event>(event: RecordedEvent): E['data'] =>
  (JSON.parse(event.body) as { data: E['data'] }).data

/** Key streams hold one event each and are written here alone, before anything that needs the key. */
async function append(
  log: EventLog,
  stream: string,
  id: string,
  event: Event,
  tenantId: string | null,
  sealingKey?: Buffer
): Promise<'appended' | 'conflict' | 'deleted'> {
  const sealed = sealingKey ? { sealed: encrypt(sealingKey, JSON.stringify(event.sealed), id) } : {}
  const body = JSON.stringify({ v: 1, data: event.data, ...sealed })
  const meta = JSON.stringify({ tenant: tenantId, trace: null, cause: null, source: 'keyring', at: event.at })
  const result = await log.append(stream, NO_STREAM, [{ id, type: event.type, body, meta }])
  if (result.kind === 'invalid') throw new Error(`key stream refused: ${result.reason}`)
  return result.kind
}
