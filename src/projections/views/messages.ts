/**
 * Everything known of a message by its number: the tracking view, the list, the counts of the hours, the way from a
 * provider's id to it, and who has been in touch with whom. One projection, because a report names neither channel nor contact.
 */
import type { ChannelEvent } from '../../domain/channel.ts'
import type { MessageEvent, MessageState } from '../../domain/message-events.ts'
import type { MessageReceived } from '../../domain/record.ts'
import type { Projection, RecordedOf, Rows, Touch } from '../port.ts'
import { messageStates } from './codes.ts'
import {
  acquaintances,
  type ContactEvent,
  contactGroups,
  contactNo,
  contacts,
  erasures,
  followContact,
  noteAcceptance,
  noteInbound
} from './contacts.ts'
import { countEvent, messageHours } from './message-hours.ts'
import { messages, received, type StoredMessage } from './message-tables.ts'
import { parties, partyNo, partyNumbers } from './parties.ts'
import { failureHeads, forgiveFailures, noteFailure, providerFailures } from './provider-failures.ts'
import { noteProviderId, providerIds } from './provider-ids.ts'
import { channelIdOf } from './stream-ids.ts'
import { toMs } from './time.ts'
import { entriesOf } from './timeline.ts'

type LimitReleased = Extract<ChannelEvent, { type: 'ChannelLimitReleased' }>
type Handled = MessageEvent | MessageReceived | ContactEvent | LimitReleased

export const messagesProjection: Projection = {
  name: 'messages',
  version: 5,
  tables: [
    messages,
    received,
    providerIds,
    contacts,
    contactGroups,
    acquaintances,
    erasures,
    messageHours,
    providerFailures,
    failureHeads,
    parties,
    partyNumbers
  ],
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
    'MessageReceived',
    'ContactKeyCreated',
    'ContactLinked',
    'ContactErased',
    'ContactErasureCompleted',
    'ChannelLimitReleased'
  ],
  apply(recorded, rows, touch) {
    const event = recorded as RecordedOf<Handled>
    switch (event.type) {
      case 'MessageReceived':
        return receive(event, rows)
      case 'MessageQueued':
        return queue(event, rows)
      case 'ContactKeyCreated':
      case 'ContactLinked':
      case 'ContactErased':
      case 'ContactErasureCompleted':
        return followContact(event, rows, touch)
      case 'ChannelLimitReleased':
        return forgiveFailures(rows, partyNo(rows, 'channel', channelIdOf(event.stream), event.position))
      default:
        return move(event, rows, touch)
    }
  }
}

function receive(event: RecordedOf<MessageReceived>, rows: Rows): void {
  const { messageId, channelId, contactId, providerIdIndex } = event.data
  const { streamNo: messageNo, position } = event
  const channelNo = partyNo(rows, 'channel', channelId, position)
  const contact = contactNo(rows, contactId, position)
  rows.put(received, { messageNo, id: messageId, channelNo, contactNo: contact, position, providerIdIndex })
  noteProviderId(rows, channelNo, providerIdIndex, messageNo)
  noteInbound(rows, channelNo, contact, event.at)
}

function queue(event: RecordedOf<Extract<MessageEvent, { type: 'MessageQueued' }>>, rows: Rows): void {
  const { messageId, tenantId, channelId, contactId } = event.data
  const at = toMs(event.at)
  const row: StoredMessage = {
    messageNo: event.streamNo,
    id: messageId,
    tenantNo: partyNo(rows, 'tenant', tenantId, event.position),
    channelNo: partyNo(rows, 'channel', channelId, event.position),
    contactNo: contactNo(rows, contactId, event.position),
    contactId,
    state: QUEUED,
    attempts: 0,
    lastError: null,
    traceId: event.meta.trace ?? '',
    createdAt: at,
    updatedAt: at,
    counted: 0,
    sentPosition: null,
    providerIdIndex: null,
    events: entriesOf(event, at)
  }
  countEvent(rows, row, event.type, at)
  rows.put(messages, row)
}

function move(event: RecordedOf<MessageEvent>, rows: Rows, touch: Touch): void {
  const row = rows.get<StoredMessage>(messages, [event.streamNo])
  if (!row) return
  const at = toMs(event.at)
  const entries = entriesOf(event, at)
  if (entries !== '') {
    row.events = `${row.events},${entries}`
    row.updatedAt = at
  }
  const state = STATES[event.type]
  if (state !== undefined) row.state = state
  countEvent(rows, row, event.type, at)
  advance(row, event, rows)
  if (event.type === 'MessageFailed') noteFailure(rows, touch, row.channelNo, event.data, at)
  rows.put(messages, row)
}

const QUEUED = messageStates.code('queued')
const AFTER: Readonly<Partial<Record<MessageEvent['type'], Exclude<MessageState, 'none'>>>> = {
  MessageDispatchStarted: 'dispatching',
  MessageRetryScheduled: 'retrying',
  MessageDispatchUnknown: 'indeterminate',
  MessageSent: 'sent',
  MessageDelivered: 'delivered',
  MessageRead: 'read',
  MessageFailed: 'failed'
}
/** The code of the state that an event leads to. */
const STATES: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(AFTER).map(([type, state]) => [type, messageStates.code(state)])
)

function advance(row: StoredMessage, event: RecordedOf<MessageEvent>, rows: Rows): void {
  switch (event.type) {
    case 'MessageDispatchStarted':
      row.attempts = event.data.attempt
      return
    case 'MessageRetryScheduled':
      row.lastError = event.data.code
      if (event.data.channelTrouble) row.attempts -= 1
      return
    case 'MessageDispatchUnknown':
    case 'MessageFailed':
      row.lastError = event.data.code
      return
    case 'MessageSent':
      row.lastError = null
      row.sentPosition = event.position
      noteAcceptance(rows, row.channelNo, row.contactNo)
      if (event.data.providerIdIndex !== undefined) learn(row, event.data.providerIdIndex, rows)
      return
    case 'MessageProviderIdLearned':
      learn(row, event.data.providerIdIndex, rows)
  }
}

function learn(row: StoredMessage, providerIdIndex: string, rows: Rows): void {
  row.providerIdIndex = providerIdIndex
  noteProviderId(rows, row.channelNo, providerIdIndex, row.messageNo)
}
