/**
 * The key streams of contacts (decisions §7, §8.2): `keys-tn_….<blind index>.<generation>`, one for each address.
 * A contact's key stands in one stream only, the first event of the one it was made in. Its other addresses have streams
 * whose newest event is a link to that one, so that erasing a single stream takes the key, whoever links meanwhile.
 */
import { LRUCache } from 'lru-cache'
import type { Event } from '../../domain/event.ts'
import { derivedId } from '../../domain/ids.ts'
import type { ContactKeyCreated, ContactLinked } from '../../domain/record.ts'
import { decrypt, encrypt, KEY_BYTES } from '../encryption.ts'
import { entropy } from '../entropy.ts'
import { type EventLog, LogUnavailable, type Need, NO_STREAM, type RecordedEvent } from '../port.ts'
import { appendKeyEvent, type KeyAppend, keyEventId } from './key-event.ts'
import { GENERATIONS_MAX, type TenantKeys } from './tenant-keys.ts'

export type Contact = {
  readonly id: string
  readonly tenantId: string
  /** The stream that its key stands in. */
  readonly stream: string
  readonly key: Buffer
  /** The address that it was first known by. */
  readonly address: string
}
/** `end`: newest revision of the contact's own stream. */
type Found = { readonly contact: Contact; readonly end: number }
/** A stream that is being begun. */
type Made = { readonly found: Found; readonly appended: Promise<KeyAppend> }
/** `former`: the contact that is another one's from now on. `position`: of what was recorded, null when nothing was. */
export type Linked = { readonly contact: Contact; readonly former: string | null; readonly position: number | null }

export type ContactKeys = {
  /** The contact whose key stands in this stream. `isLinked`: its address is another contact's by now. */
  own(keys: TenantKeys, stream: string): Promise<{ readonly contact: Contact; readonly isLinked: boolean } | null>
  /** Whose address it is; null when nobody's, or it was erased. */
  find(keys: TenantKeys, index: string): Promise<Contact | null>
  /**
   * Where the log is ordered and nobody has had the address: a contact whose key is on its way, so what is sealed for it
   * needs that (`needOf`). Null: it has to be read.
   */
  begin(keys: TenantKeys, index: string, address: string, at: string, isBulk: boolean): Contact | null
  /** Whose address it is; a contact is made where there is none, and is in the log. */
  ensure(keys: TenantKeys, index: string, address: string, at: string, isBulk: boolean): Promise<Contact>
  /** From now on the contact goes by the address of `index` too. Null when it was erased meanwhile. */
  link(keys: TenantKeys, contact: Contact, index: string, at: string): Promise<Linked | null>
  /** The event that must be in the log before anything sealed for this contact; undefined when it is there. */
  needOf(contactId: string): Need | undefined
  /** Its key did not reach the log. */
  isLost(contactId: string): boolean
  /** Resolves when its key is in the log, or known to be lost. */
  settled(contactId: string): Promise<void>
}
export type ContactKeysOptions = {
  readonly log: EventLog
  /** A read that was under way when its contact was erased must not bring the key back. */
  readonly isErased: (contactId: string) => boolean
  /** Its key did not reach the log: whoever comes next under its address is somebody else. */
  readonly onLost: (contact: Contact) => void
}

/** 26 characters of base32 take 130 bits. */
const ID_BYTES = 17
/**
 * An erased stream reads like one that never was. So many generations of a contact without a trace mean that there is none.
 * A contact erased more often is still found where it matters: `ensure` appends, and learns it from the log.
 */
const UNSEEN_GENERATIONS_MAX = 8
/** Others may link the same contacts at the same time; each of them gets it done in a few turns. */
const CONFLICTS_MAX = 10

type Unsettled = { readonly need: Need; readonly settled: Promise<unknown> }

const LOST_MAX = 50_000

export function createContactKeys({ log, isErased, onLost }: ContactKeysOptions): ContactKeys {
  /** By contact id: keys on their way to an ordered log. */
  const unsettled = new Map<string, Unsettled>()
  /** Those that did not get there. What was sealed under one is appended within moments, and then refused. */
  const lost = new LRUCache<string, Need>({ max: LOST_MAX })

  type Stream = {
    readonly first: RecordedEvent
    readonly links: readonly ContactLinked['data'][]
    readonly end: number
  }

  async function read(name: string): Promise<Stream | null> {
    const events: RecordedEvent[] = []
    for await (const event of log.read(name)) events.push(event)
    const [first] = events
    const links = events.filter(({ type }) => type === 'ContactLinked').map(dataOf<ContactLinked>)
    return first ? { first, links, end: first.revision + events.length - 1 } : null
  }

  /** The contact whose key stands there; null when the stream holds links only. */
  function open(keys: TenantKeys, name: string, { first }: Stream): Contact | null {
    if (first.type !== 'ContactKeyCreated') return null
    const { contactId, wrapped } = dataOf<ContactKeyCreated>(first)
    if (isErased(contactId)) return null
    const key = decrypt(keys.encryption, wrapped, contactId)
    if (!key) throw new Error(`the key of contact ${contactId} does not open`)
    const plain = decrypt(key, (JSON.parse(first.body) as { sealed: string }).sealed, first.id)
    if (!plain) throw new Error(`the key stream of contact ${contactId} was altered`)
    const { address } = JSON.parse(plain.toString()) as { address: string }
    return { id: contactId, tenantId: keys.tenantId, stream: name, key, address }
  }

  /** A link to a contact that was erased leads nowhere: then the one before it counts, and at last the stream's own. */
  async function follow(keys: TenantKeys, name: string): Promise<Found | null> {
    const stream = await read(name)
    if (!stream) return null
    for (const { keyStream } of stream.links.toReversed()) {
      const found = await follow(keys, keyStream)
      if (found) return found
    }
    const contact = open(keys, name, stream)
    return contact && { contact, end: stream.end }
  }

  /** Who stands at the address, else what `make` appends to the first of its streams that can still be begun. */
  async function claim(
    keys: TenantKeys,
    index: string,
    make: (stream: string) => Made
  ): Promise<{ readonly found: Found; readonly position: number | null }> {
    for (let generation = 1; generation <= GENERATIONS_MAX; generation++) {
      const stream = streamName(keys.tenantId, index, generation)
      const standing = log.ordered?.standing(stream) ?? (log.numberOf(stream) === null ? 'unknown' : 'live')
      if (standing === 'erased') continue
      if (standing === 'live') {
        const found = await follow(keys, stream)
        if (found) return { found, position: null }
      }
      const { found: made, appended } = make(stream)
      const outcome = await appended
      if (outcome.kind === 'appended') return { found: made, position: outcome.position }
      if (outcome.kind === 'conflict') {
        const found = await follow(keys, stream)
        if (found) return { found, position: null }
      }
      // Deleted, or of somebody who is being erased: the address starts anew with the next generation.
    }
    throw new Error('a contact was erased more often than generations are kept')
  }

  /** Until the key is in the log, all that is sealed under it needs it, and for ever when it does not get there. */
  function settleLater(contact: Contact, need: Need, appended: Promise<KeyAppend>): void {
    const settle = (isThere: boolean): void => {
      unsettled.delete(contact.id)
      if (isThere) return
      lost.set(contact.id, need)
      onLost(contact)
    }
    const settled = appended.then(
      ({ kind }) => settle(kind === 'appended'),
      () => settle(false)
    )
    unsettled.set(contact.id, { need, settled })
  }

  async function settled(contactId: string): Promise<void> {
    await unsettled.get(contactId)?.settled
  }

  async function find(keys: TenantKeys, index: string): Promise<Contact | null> {
    let unseen = 0
    for (let generation = 1; generation <= GENERATIONS_MAX && unseen < UNSEEN_GENERATIONS_MAX; generation++) {
      const stream = streamName(keys.tenantId, index, generation)
      const found = await follow(keys, stream)
      if (found) return found.contact
      unseen = log.numberOf(stream) === null ? unseen + 1 : 0
    }
    return null
  }

  async function ensure(
    keys: TenantKeys,
    index: string,
    address: string,
    at: string,
    isBulk: boolean
  ): Promise<Contact> {
    const { found } = await claim(keys, index, stream => {
      const { contact, appended } = make(keys, stream, index, address, at, isBulk)
      return { found: { contact, end: 0 }, appended }
    })
    return found.contact
  }

  function begin(keys: TenantKeys, index: string, address: string, at: string, isBulk: boolean): Contact | null {
    if (!log.ordered) return null
    for (let generation = 1; generation <= GENERATIONS_MAX; generation++) {
      const stream = streamName(keys.tenantId, index, generation)
      const standing = log.ordered.standing(stream)
      if (standing === 'live') return null
      if (standing === 'erased') continue
      const { contact, eventId, appended } = make(keys, stream, index, address, at, isBulk)
      settleLater(contact, { stream, eventId, isBulk }, appended)
      return contact
    }
    return null
  }

  function make(keys: TenantKeys, stream: string, index: string, address: string, at: string, isBulk: boolean) {
    const { tenantId } = keys
    const contact = newContact(keys, stream, address)
    const wrapped = encrypt(keys.encryption, contact.key, contact.id)
    const event: ContactKeyCreated = {
      type: 'ContactKeyCreated',
      at,
      data: { contactId: contact.id, tenantId, index, wrapped },
      subject: contact.id,
      sealed: { address }
    }
    const eventId = keyEventId(at)
    const appended = appendKeyEvent(log, stream, NO_STREAM, { id: eventId, event }, tenantId, contact.key, { isBulk })
    return { contact, eventId, appended }
  }

  async function link(keys: TenantKeys, contact: Contact, index: string, at: string): Promise<Linked | null> {
    const { tenantId } = keys
    const append = (stream: string, expected: number, event: ContactLinked) =>
      appendKeyEvent(log, stream, expected, { id: keyEventId(at), event }, tenantId)
    await settled(contact.id)
    for (let tries = 0; tries < CONFLICTS_MAX; tries++) {
      const one = await follow(keys, contact.stream)
      if (!one) return null
      const linkTo = ({ id: contactId, stream: keyStream }: Contact, of: string, former?: string): ContactLinked => ({
        type: 'ContactLinked',
        at,
        data: { contactId, tenantId, index: of, keyStream, ...(former === undefined ? {} : { former }) }
      })
      const { found: other, position } = await claim(keys, index, stream => ({
        found: one,
        appended: append(stream, NO_STREAM, linkTo(one.contact, index))
      }))
      if (other.contact.id === one.contact.id) return { contact: one.contact, former: null, position }
      const [kept, former] = isBefore(one.contact, other.contact) ? [one, other] : [other, one]
      const { stream, id } = former.contact
      const event = linkTo(kept.contact, indexOfStream(stream), id)
      const outcome = await append(stream, former.end, event)
      if (outcome.kind === 'appended') return { contact: kept.contact, former: id, position: outcome.position }
      // Somebody else was first, or one of them was erased: what stands there now decides.
    }
    throw new LogUnavailable('two identities of a contact could not be linked')
  }

  return {
    async own(keys, name) {
      const stream = await read(name)
      const contact = stream && open(keys, name, stream)
      return contact && { contact, isLinked: stream.links.length > 0 }
    },
    find,
    begin,
    ensure,
    link,
    needOf: contactId => unsettled.get(contactId)?.need ?? lost.get(contactId),
    isLost: contactId => lost.has(contactId),
    settled
  }
}

/** Blind index in the name of a key stream. */
export const indexOfStream = (stream: string): string => stream.split('.')[1] ?? ''

const streamName = (tenantId: string, index: string, generation: number): string =>
  `keys-${tenantId}.${index}.${generation}`

/**
 * Which of two contacts both are from now on: one with a phone number, else the one with the smaller id. Whoever links
 * comes to the same, and links never go round in a circle.
 */
function isBefore(one: Contact, other: Contact): boolean {
  const rank = ({ address }: Contact): number => (/^\d+$/.test(address) ? 0 : 1)
  return rank(one) === rank(other) ? one.id < other.id : rank(one) < rank(other)
}

function newContact(keys: TenantKeys, stream: string, address: string): Contact {
  const id = derivedId('ct', entropy(ID_BYTES))
  return { id, tenantId: keys.tenantId, stream, key: entropy(KEY_BYTES), address }
}

const dataOf = <E extends Event>(event: RecordedEvent): E['data'] =>
  (JSON.parse(event.body) as { data: E['data'] }).data
