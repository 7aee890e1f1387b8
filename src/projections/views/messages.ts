/**
 * Everything known of a message by its number: the tracking view, the way from a provider's id to it,
 * and who has been in touch with whom. One projection, because a report names neither channel nor contact.
 */
import type { MessageEvent } from '../../domain/message-events.ts'
import type { MessageReceived } from '../../domain/record.ts'
import type { Projection, RecordedOf, Rows, Table } from '../port.ts'
import { noteProviderId, providerIds } from './provider-ids.ts'
import { entriesOf } from './timeline.ts'

export const messages: Table = {
  name: 'messages',
  columns: {
    messageNo: 'INTEGER',
    id: 'TEXT',
    tenantId: 'TEXT',
    channelId: 'TEXT',
    contactId: 'TEXT',
    state: 'TEXT',
    attempts: 'INTEGER',
    lastError: 'TEXT',
    traceId: 'TEXT',
    createdAt: 'TEXT',
    updatedAt: 'TEXT',
    providerIdIndex: 'TEXT',
    events: 'TEXT'
  },
  keyLength: 1,
  indexes: [],
  fixed: ['id', 'tenantId', 'channelId', 'contactId', 'traceId', 'createdAt']
}

/** Inbound messages have ids for replies and reactions, but no tracking. */
export const received: Table = {
  name: 'received',
  columns: { messageNo: 'INTEGER', id: 'TEXT', channelId: 'TEXT', providerIdIndex: 'TEXT' },
  keyLength: 1,
  indexes: []
}

export const acquaintances: Table = {
  name: 'acquaintances',
  columns: { channelId: 'TEXT', contactId: 'TEXT' },
  keyLength: 2,
  indexes: [],
  withoutRowid: true
}

export type StoredMessage = {
  messageNo: number
  id: string
  tenantId: string
  channelId: string
  contactId: string
  state: string
  attempts: number
  lastError: string | null
  traceId: string
  createdAt: string
  updatedAt: string
  providerIdIndex: string | null
  events: string
}

type Handled = MessageEvent | MessageReceived

export const messagesProjection: Projection = {
  name: 'messages',
  version: 1,
  tables: [messages, received, providerIds, acquaintances],
  handles: [
    'MessageQueued',
    'MessageDispatchStarted',
    'MessageSent',
    'MessageProviderIdLearned',
    'MessageRetryScheduled',
    'MessageDispatchUnknown',
    'MessageDelivered',
    'MessageRead',
    'MessageFailed',
    'MessageReportNoted',
    'MessageReceived'
  ],
  apply(recorded, rows) {
    const event = recorded as RecordedOf<Handled>
    if (event.type === 'MessageReceived') return receive(event, rows)
    if (event.type === 'MessageQueued') return rows.put(messages, queued(event))
    const row = rows.get<StoredMessage>(messages, [event.streamNo])
    if (!row) return
    const entries = entriesOf(event)
    if (entries !== '') {
      row.events = `${row.events},${entries}`
      row.updatedAt = event.at
    }
    advance(row, event, rows)
    rows.put(messages, row)
  }
}

function receive(event: RecordedOf<MessageReceived>, rows: Rows): void {
  const { messageId, channelId, contactId, providerIdIndex } = event.data
  rows.put(received, { messageNo: event.streamNo, id: messageId, channelId, providerIdIndex })
  noteProviderId(rows, channelId, providerIdIndex, event.streamNo)
  acquaint(rows, channelId, contactId)
}

function queued(event: RecordedOf<Extract<MessageEvent, { type: 'MessageQueued' }>>): StoredMessage {
  const { messageId, tenantId, channelId, contactId } = event.data
  return {
    messageNo: event.streamNo,
    id: messageId,
    tenantId,
    channelId,
    contactId,
    state: 'queued',
    attempts: 0,
    lastError: null,
    traceId: event.meta.trace ?? '',
    createdAt: event.at,
    updatedAt: event.at,
    providerIdIndex: null,
    events: entriesOf(event)
  }
}

function advance(row: StoredMessage, event: RecordedOf<MessageEvent>, rows: Rows): void {
  switch (event.type) {
    case 'MessageDispatchStarted':
      row.state = 'dispatching'
      row.attempts = event.data.attempt
      return
    case 'MessageRetryScheduled':
      row.state = 'retrying'
      row.lastError = event.data.code
      if (event.data.channelTrouble) row.attempts -= 1
      return
    case 'MessageDispatchUnknown':
      row.state = 'indeterminate'
      row.lastError = event.data.code
      return
    case 'MessageSent':
      row.state = 'sent'
      row.lastError = null
      acquaint(rows, row.channelId, row.contactId)
      if (event.data.providerIdIndex !== undefined) learn(row, event.data.providerIdIndex, rows)
      return
    case 'MessageProviderIdLearned':
      learn(row, event.data.providerIdIndex, rows)
      return
    case 'MessageDelivered':
      row.state = 'delivered'
      return
    case 'MessageRead':
      row.state = 'read'
      return
    case 'MessageFailed':
      row.state = 'failed'
      row.lastError = event.data.code
  }
}

function learn(row: StoredMessage, providerIdIndex: string, rows: Rows): void {
  row.providerIdIndex = providerIdIndex
  noteProviderId(rows, row.channelId, providerIdIndex, row.messageNo)
}

function acquaint(rows: Rows, channelId: string, contactId: string): void {
  const known = rows.get(acquaintances, [channelId, contactId])
  if (!known) rows.put(acquaintances, { channelId, contactId })
}
