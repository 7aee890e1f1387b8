/** Tables of messages. Tenants, channels and contacts stand in them by number (parties.ts, contacts.ts). */
import type { Table } from '../port.ts'

export const messages: Table = {
  name: 'messages',
  columns: {
    messageNo: 'INTEGER',
    id: 'TEXT',
    tenantNo: 'INTEGER',
    channelNo: 'INTEGER',
    contactNo: 'INTEGER',
    contactId: 'TEXT',
    state: 'INTEGER',
    attempts: 'INTEGER',
    lastError: 'TEXT',
    traceId: 'TEXT',
    createdAt: 'INTEGER',
    updatedAt: 'INTEGER',
    counted: 'INTEGER',
    sentPosition: 'INTEGER',
    providerIdIndex: 'TEXT',
    events: 'TEXT'
  },
  keyLength: 1,
  // Of the list (queries/message-list.ts). With the state in them, a rare state is found without reading the others.
  indexes: ['(tenantNo, state, createdAt)', '(channelNo, state, createdAt)', '(contactNo, createdAt)'],
  fixed: ['id', 'tenantNo', 'channelNo', 'contactNo', 'contactId', 'traceId', 'createdAt']
}

/** Inbound messages have ids for replies and reactions, but no tracking. */
export const received: Table = {
  name: 'received',
  columns: {
    messageNo: 'INTEGER',
    id: 'TEXT',
    channelNo: 'INTEGER',
    contactNo: 'INTEGER',
    position: 'INTEGER',
    providerIdIndex: 'TEXT'
  },
  keyLength: 1,
  indexes: ['(contactNo)']
}

export type StoredMessage = {
  messageNo: number
  id: string
  tenantNo: number
  channelNo: number
  contactNo: number
  contactId: string
  state: number
  attempts: number
  lastError: string | null
  traceId: string
  createdAt: number
  updatedAt: number
  /** Metrics columns in which it is counted (message-hours.ts). */
  counted: number
  /** Position of its `MessageSent`, where its `message.sent` deliveries stand in the outbox. */
  sentPosition: number | null
  providerIdIndex: string | null
  /** Timeline (timeline.ts). */
  events: string
}
