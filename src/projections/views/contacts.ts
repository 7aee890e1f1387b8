/**
 * Contacts: the small number that message rows know them by, their key streams, which of them are the same person, who has
 * been in touch with which channel, and erasures that are not finished. Holds no key; of an erased contact nothing but its
 * random id and number.
 */
import type { ContactErased, ContactErasureCompleted, ContactKeyCreated, ContactLinked } from '../../domain/record.ts'
import { shardOf } from '../../domain/shards.ts'
import type { RecordedOf, Rows, Table, Touch } from '../port.ts'
import { joined, listed } from './lists.ts'
import { toMs } from './time.ts'

/**
 * `no`: position of the contact's first message, 0 before it. Not of its key: after an erasure that event is gone, and a
 * rebuild has to come to the same number. `aliases`: key streams of further addresses, which hold no key. `groupId`: null
 * while it is linked with no other contact.
 */
export const contacts: Table = {
  name: 'contacts',
  columns: { contactId: 'TEXT', no: 'INTEGER', stream: 'TEXT', aliases: 'TEXT', groupId: 'TEXT' },
  keyLength: 1,
  indexes: [],
  withoutRowid: true
}

/** Contacts that came to be known as the same person: two or more. */
export const contactGroups: Table = {
  name: 'contact_groups',
  columns: { groupId: 'TEXT', contactIds: 'TEXT' },
  keyLength: 1,
  indexes: [],
  withoutRowid: true
}

export const acquaintances: Table = {
  name: 'acquaintances',
  columns: { channelNo: 'INTEGER', contactNo: 'INTEGER', lastInboundAt: 'INTEGER' },
  keyLength: 2,
  indexes: [],
  withoutRowid: true
}

/** A recorded erasure until it is completed, with all contacts and key streams that it takes; their own rows have lost them. */
export const erasures: Table = {
  name: 'erasures',
  columns: { contactId: 'TEXT', tenantId: 'TEXT', contactIds: 'TEXT', streams: 'TEXT', due: 'TEXT', shard: 'INTEGER' },
  keyLength: 1,
  indexes: ['(due, shard)'],
  withoutRowid: true
}

const UNNUMBERED = 0

type Contact = {
  contactId: string
  no: number
  stream: string | null
  aliases: string | null
  groupId: string | null
}
type Group = { groupId: string; contactIds: string }
type Acquaintance = { channelNo: number; contactNo: number; lastInboundAt: number | null }
type Erasure = { contactId: string; tenantId: string; contactIds: string; streams: string; due: string; shard: number }
export type ContactEvent = ContactKeyCreated | ContactLinked | ContactErased | ContactErasureCompleted

export function followContact(event: RecordedOf<ContactEvent>, rows: Rows, touch: Touch): void {
  switch (event.type) {
    case 'ContactKeyCreated': {
      const { contactId } = event.data
      rows.put(contacts, { contactId, no: UNNUMBERED, stream: event.stream, ...UNLINKED })
      return
    }
    case 'ContactLinked':
      link(event, rows, touch)
      return
    case 'ContactErased': {
      const { contactId, linked = [] } = event.data
      // Whoever was linked up to this moment goes too, whether or not whoever recorded it knew.
      const contactIds = [contactId, ...linked].flatMap(id => groupOf(rows, id))
      erase(event, [...new Set(contactIds)], rows, touch)
      return
    }
    case 'ContactErasureCompleted':
      rows.delete(erasures, [event.data.contactId])
  }
}

function link(event: RecordedOf<ContactLinked>, rows: Rows, touch: Touch): void {
  const { contactId, former } = event.data
  const contact = rows.get<Contact>(contacts, [contactId])
  if (contact?.stream == null) {
    // Erased at the same time: the link leads nowhere. A stream that holds nothing else has nothing to stay for.
    if (former === undefined) leave(event, contactId, [contactId], [event.stream], rows, touch)
    return
  }
  if (former === undefined) {
    rows.put(contacts, { ...contact, aliases: joined([...listed(contact.aliases), event.stream]) })
    return
  }
  if (rows.get<Contact>(contacts, [former])?.stream == null) return
  unite(rows, contactId, former)
  touch('relinked', former)
}

/** The contacts that are the same person as this one, itself among them. */
function groupOf(rows: Rows, contactId: string): readonly string[] {
  const groupId = rows.get<Contact>(contacts, [contactId])?.groupId
  const group = groupId == null ? undefined : rows.get<Group>(contactGroups, [groupId])
  return group ? listed(group.contactIds) : [contactId]
}

function unite(rows: Rows, contactId: string, former: string): void {
  const members = groupOf(rows, contactId)
  if (members.includes(former)) return
  const gone = rows.get<Contact>(contacts, [former])?.groupId
  const groupId = rows.get<Contact>(contacts, [contactId])?.groupId ?? contactId
  const contactIds = [...members, ...groupOf(rows, former)]
  if (gone != null) rows.delete(contactGroups, [gone])
  rows.put(contactGroups, { groupId, contactIds: joined(contactIds) })
  for (const id of contactIds) {
    const contact = rows.get<Contact>(contacts, [id])
    if (contact) rows.put(contacts, { ...contact, groupId })
  }
}

function erase(event: RecordedOf<ContactErased>, contactIds: readonly string[], rows: Rows, touch: Touch): void {
  const streams: string[] = []
  for (const contactId of contactIds) {
    const contact = rows.get<Contact>(contacts, [contactId])
    // Only an end is worth telling: nobody keeps in mind that a contact has no stream.
    touch('contact', contactId)
    if (!contact) continue
    if (contact.stream !== null) streams.push(contact.stream)
    streams.push(...listed(contact.aliases))
    if (contact.groupId !== null) rows.delete(contactGroups, [contact.groupId])
    if (contact.no === UNNUMBERED) rows.delete(contacts, [contactId])
    else rows.put(contacts, { ...contact, stream: null, ...UNLINKED })
  }
  leave(event, event.data.contactId, contactIds, streams, rows, touch)
}

/** Adds to what the erasure of a contact has left to do. */
function leave(
  { at, data }: RecordedOf<ContactErased | ContactLinked>,
  contactId: string,
  contactIds: readonly string[],
  streams: readonly string[],
  rows: Rows,
  touch: Touch
): void {
  const before = rows.get<Erasure>(erasures, [contactId])
  const all = (known: string | undefined, more: readonly string[]) =>
    joined([...new Set([...listed(known ?? null), ...more])])
  rows.put(erasures, {
    contactId,
    tenantId: data.tenantId,
    contactIds: all(before?.contactIds, contactIds),
    streams: all(before?.streams, streams),
    due: before?.due ?? at,
    shard: shardOf(contactId)
  })
  touch('todo', 'finish_erasure')
}

const UNLINKED = { aliases: null, groupId: null }

/** The contact's number; its first message gives it one. */
export function contactNo(rows: Rows, contactId: string, position: number): number {
  const known = rows.get<Contact>(contacts, [contactId])
  if (known && known.no !== UNNUMBERED) return known.no
  rows.put(contacts, { ...(known ?? { contactId, stream: null, ...UNLINKED }), no: position })
  return position
}

/** The provider accepted a message to the contact. */
export function noteAcceptance(rows: Rows, channelNo: number, contactNo: number): void {
  const known = rows.get<Acquaintance>(acquaintances, [channelNo, contactNo])
  if (!known) rows.put(acquaintances, { channelNo, contactNo, lastInboundAt: null })
}

export function noteInbound(rows: Rows, channelNo: number, contactNo: number, at: string): void {
  const known = rows.get<Acquaintance>(acquaintances, [channelNo, contactNo])
  const lastInboundAt = Math.max(known?.lastInboundAt ?? 0, toMs(at))
  rows.put(acquaintances, { channelNo, contactNo, lastInboundAt })
}
