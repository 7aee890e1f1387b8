/** Work that logged events have left to do (architecture, rules 3 and 8). `fail_waiting` is read from the queue's depths, `finish_erasure` from contacts.ts. */
import type { AttemptEvent } from '../../domain/attempt.ts'
import type { ChannelEvent } from '../../domain/channel.ts'
import type { ClaimEvent } from '../../domain/claim.ts'
import type { DestinationEvent } from '../../domain/destination.ts'
import { shardOf } from '../../domain/shards.ts'
import type { TenantEvent } from '../../domain/tenant.ts'
import type { Projection, RecordedOf, Rows, Table, TodoRow, Touch } from '../port.ts'
import { attemptIdOf, channelIdOf, destinationIdOf } from './stream-ids.ts'

export const todos: Table = {
  name: 'todos',
  columns: { kind: 'TEXT', subject: 'TEXT', stream: 'TEXT', due: 'TEXT', shard: 'INTEGER' },
  keyLength: 2,
  indexes: ['(due, shard)'],
  withoutRowid: true
}

/** The claim that a channel holds. */
export const claims: Table = {
  name: 'claims',
  columns: { channelId: 'TEXT', stream: 'TEXT' },
  keyLength: 1,
  indexes: [],
  withoutRowid: true
}

type Kind = TodoRow['kind']
type Handled =
  | AttemptEvent
  | Extract<ClaimEvent, { type: 'NumberClaimed' | 'NumberReleased' }>
  | Extract<ChannelEvent, { type: 'ChannelConnected' | 'ChannelDeleted' }>
  | Extract<TenantEvent, { type: 'DestinationRegistered' | 'DestinationDeregistered' }>
  | Extract<DestinationEvent, { type: 'DestinationCreated' }>

export const todoProjection: Projection = {
  name: 'todo',
  version: 2,
  tables: [todos, claims],
  handles: [
    'NumberClaimed',
    'NumberReleased',
    'ChannelConnected',
    'ChannelDeleted',
    'AttemptStarted',
    'AttemptPaired',
    'AttemptConnected',
    'AttemptFailed',
    'AttemptExpired',
    'AttemptCancelled',
    'DestinationRegistered',
    'DestinationDeregistered',
    'DestinationCreated'
  ],
  apply(recorded, rows, touch) {
    const event = recorded as RecordedOf<Handled>
    if (event.type.startsWith('Attempt')) return followAttempt(event, rows, touch)
    switch (event.type) {
      case 'NumberClaimed': {
        const { channelId } = event.data.creation
        rows.put(claims, { channelId, stream: event.stream })
        return add(rows, touch, { kind: 'finish_number', subject: channelId, stream: event.stream, due: event.at })
      }
      case 'NumberReleased': {
        const { channelId } = event.data
        rows.delete(claims, [channelId])
        remove(rows, 'finish_number', channelId)
        return remove(rows, 'release_number', channelId)
      }
      case 'ChannelConnected':
        return remove(rows, 'finish_number', channelIdOf(event.stream))
      case 'ChannelDeleted':
        return releaseLater(event, rows, touch)
      case 'DestinationRegistered': {
        const { destinationId: subject } = event.data
        return add(rows, touch, { kind: 'finish_destination', subject, stream: event.stream, due: event.at })
      }
      case 'DestinationDeregistered':
        return remove(rows, 'finish_destination', event.data.destinationId)
      case 'DestinationCreated':
        return remove(rows, 'finish_destination', destinationIdOf(event.stream))
    }
  }
}

function releaseLater(event: RecordedOf<Handled>, rows: Rows, touch: Touch): void {
  const subject = channelIdOf(event.stream)
  const claim = rows.get<{ channelId: string; stream: string }>(claims, [subject])
  if (claim) add(rows, touch, { kind: 'release_number', subject, stream: claim.stream, due: event.at })
}

function followAttempt(event: RecordedOf<Handled>, rows: Rows, touch: Touch): void {
  const { stream, at } = event
  const subject = attemptIdOf(stream)
  if (event.type === 'AttemptStarted') {
    add(rows, touch, { kind: 'expire_attempt', subject, stream, due: event.data.expiresAt })
    return
  }
  remove(rows, 'expire_attempt', subject)
  if (event.type === 'AttemptPaired') add(rows, touch, { kind: 'finish_pairing', subject, stream, due: at })
  else remove(rows, 'finish_pairing', subject)
}

function add(rows: Rows, touch: Touch, todo: Omit<TodoRow, 'tenantId'>): void {
  rows.put(todos, { ...todo, shard: shardOf(todo.subject) })
  touch('todo', todo.kind)
}

const remove = (rows: Rows, kind: Kind, subject: string): void => rows.delete(todos, [kind, subject])
