/**
 * Between the domain's events and the log's bytes. An event is encoded once: a repeat of its append sends the same bytes.
 * Body: `{"v":1,"data":{…},"sealed":"…"}`. Broker and provider time, tenant, trace, cause, source and subject stand in the metadata.
 */
import { hash } from 'node:crypto'
import type { Event } from '../domain/event.ts'
import { timeOrderedId } from '../domain/ids.ts'
import { catalogue } from './catalogue/catalogue.ts'
import type { Keyring } from './keyring.ts'
import type { AppendResult, EventLog, EventMeta, NewEvent, RecordedEvent } from './port.ts'

export type CommandContext = {
  /** Belongs to one decider; the events' ids are derived from it (architecture, rule 2). */
  readonly commandId: string
  readonly tenant: string | null
  readonly trace: string | null
  readonly cause: string | null
  readonly source: string
  /** One of very many: what single requests append goes before it. */
  readonly isBulk?: boolean
}

/** Same stream, command and index: same id, so that a repeated append is recognised. */
export function eventId(stream: string, commandId: string, index: number, at: string): string {
  // Text first: a buffer straight from the hash takes twice as long.
  const digest = Buffer.from(hash('sha256', `${stream}|${commandId}|${index}`, 'binary'), 'latin1')
  return timeOrderedId('evt', Date.parse(at), digest)
}

export type Body = { readonly v: number; readonly data: unknown; readonly sealed?: string }

/** A promise only when a key is not at hand. Throws when an event is not as the catalogue has it. */
export function encode(
  keyring: Keyring,
  stream: string,
  events: readonly Event[],
  context: CommandContext
): NewEvent[] | Promise<NewEvent[]> {
  const versions = events.map(({ type, data }) => {
    const definition = catalogue.definition(type)
    definition.data.parse(data)
    return definition.version
  })
  const encoded = events.map((event, index) => {
    const version = versions[index] ?? 0
    const id = eventId(stream, context.commandId, index, event.at)
    if (event.sealed === undefined || event.subject === undefined) return written(event, id, version, context, null)
    const sealed = keyring.seal(context.tenant, event.subject, event.sealed, id)
    return sealed instanceof Promise
      ? sealed.then(text => written(event, id, version, context, text))
      : written(event, id, version, context, sealed)
  })
  return encoded.every(isWritten) ? encoded : Promise.all(encoded)
}

const isWritten = (event: NewEvent | Promise<NewEvent>): event is NewEvent => !(event instanceof Promise)

/** A contact that was erased meanwhile has no key: the personal part is then left out, never written in clear. */
function written(event: Event, id: string, v: number, context: CommandContext, sealed: string | null): NewEvent {
  const { tenant, trace, cause, source } = context
  const { type, at, data, providerAt, subject } = event
  const body: Body = sealed === null ? { v, data } : { v, data, sealed }
  const meta: { -readonly [member in keyof EventMeta]: EventMeta[member] } = { tenant, trace, cause, source, at }
  if (providerAt !== undefined) meta.providerAt = providerAt
  if (event.sealed !== undefined && subject !== undefined) meta.subject = subject
  return { id, type, body: JSON.stringify(body), meta: JSON.stringify(meta) }
}

/** Encodes and appends. A key that is still on its way to the log is needed by what it seals. */
export function appendEvents(
  { log, keyring }: { readonly log: EventLog; readonly keyring: Keyring },
  stream: string,
  expected: number,
  events: readonly Event[],
  context: CommandContext
): Promise<AppendResult> {
  const append = (encoded: readonly NewEvent[]): Promise<AppendResult> => {
    const sealed = events.find(event => event.sealed !== undefined && event.subject !== undefined)
    const need = sealed?.subject === undefined ? undefined : keyring.needOf(sealed.subject)
    return log.append(stream, expected, encoded, { need, isBulk: context.isBulk })
  }
  const encoded = encode(keyring, stream, events, context)
  return encoded instanceof Promise ? encoded.then(append) : append(encoded)
}

/** An event as it was read back: its clear part, upcast to the newest version. */
export type Decoded<E extends Event = Event> = E & {
  readonly id: string
  readonly position: number
  readonly revision: number
  readonly meta: EventMeta
  readonly ciphertext: string | null
}

export function decode<E extends Event = Event>(recorded: RecordedEvent): Decoded<E> {
  const body = JSON.parse(recorded.body) as Body
  const meta = JSON.parse(recorded.meta) as EventMeta
  // Built in one shape and without spreads: every event of every rebuild passes here.
  const event: Record<string, unknown> = {
    type: recorded.type,
    at: meta.at,
    data: catalogue.upcast(recorded.type, body.v, body.data),
    id: recorded.id,
    position: recorded.position,
    revision: recorded.revision,
    meta,
    ciphertext: body.sealed ?? null
  }
  if (meta.providerAt !== undefined) event.providerAt = meta.providerAt
  if (meta.subject !== undefined) event.subject = meta.subject
  return event as unknown as Decoded<E>
}

/** The sealed part in clear; null when there is none or its contact was erased. */
export async function openSealed<S>(
  keyring: Keyring,
  event: Pick<Decoded, 'ciphertext' | 'subject' | 'meta' | 'id'>
): Promise<S | null> {
  if (event.ciphertext === null || event.subject === undefined) return null
  return (await keyring.open(event.meta.tenant, event.subject, event.ciphertext, event.id)) as S | null
}
