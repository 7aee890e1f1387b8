/** What every service and reactor of this folder stands on. */
import { hash } from 'node:crypto'
import type { Event } from '../domain/event.ts'
import { type IdPrefix, timeOrderedId } from '../domain/ids.ts'
import { appendEvents, type CommandContext, type Decoded, decode, openSealed } from '../log/codec.ts'
import { entropy } from '../log/entropy.ts'
import type { Keyring } from '../log/keyring.ts'
import { type AppendResult, type EventLog, LogUnavailable } from '../log/port.ts'
import type { Views } from '../projections/port.ts'
import type { Aggregates } from './aggregates.ts'
import { type Clock, iso } from './clock.ts'
import type { OwnWrites } from './own-writes.ts'

export type Logger = {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export type Core = {
  readonly log: EventLog
  readonly keyring: Keyring
  readonly views: Views
  readonly aggregates: Aggregates
  readonly own: OwnWrites
  readonly clock: Clock
  readonly logger: Logger
  /** This node works the channel, attempt or destination of this id. */
  readonly works: (id: string) => boolean
  readonly workedShards: () => readonly number[]
  /** Unique to this process and start: commands of the service itself take their ids from it. */
  readonly processId: string
}

/** Who asks, as far as a service needs to know. */
export type Asker = { readonly tenantId: string; readonly trace: string }

export type Refusal = {
  readonly ok: false
  readonly code: string
  readonly details?: readonly { readonly path: string; readonly message: string }[]
}
export type Result<T> = { readonly ok: true; readonly value: T } | Refusal

export const refuse = (code: string): Refusal => ({ ok: false, code })
export const ok = <T>(value: T): Result<T> => ({ ok: true, value })

export const newId = (prefix: IdPrefix, core: Pick<Core, 'clock'>): string =>
  timeOrderedId(prefix, core.clock.now(), entropy(10))

export const now = (core: Pick<Core, 'clock'>): string => iso(core.clock.now())

/** Context of a command that a client's request caused. */
export const askedBy = (asker: Asker, source = 'api'): CommandContext => ({
  commandId: asker.trace,
  tenant: asker.tenantId,
  trace: asker.trace,
  cause: null,
  source
})

let counter = 0

/** Context of a command that the service gives itself: node, start and a counter, so that no two deciders share it. */
export const ownCommand = (
  core: Pick<Core, 'processId'>,
  tenant: string | null,
  source: string,
  links: { trace?: string | null; cause?: string | null } = {}
): CommandContext => ({
  commandId: `${core.processId}.${++counter}`,
  tenant,
  trace: links.trace ?? null,
  cause: links.cause ?? null,
  source
})

/** Appends facts that need no decision. Rejects only when the log cannot be written. */
export async function record(
  core: Pick<Core, 'log' | 'keyring' | 'own'>,
  stream: string,
  expected: number,
  events: readonly Event[],
  context: CommandContext
): Promise<AppendResult> {
  const result = await appendEvents(core, stream, expected, events, context)
  if (result.kind === 'appended') core.own.wrote(context.tenant, result.position)
  return result
}

/** The first event of a stream that satisfies `wanted`. */
export async function findEvent<E extends Event>(
  core: Pick<Core, 'log'>,
  stream: string,
  wanted: (event: Decoded<E>) => boolean
): Promise<Decoded<E> | null> {
  for await (const recorded of core.log.read(stream)) {
    const event = decode<E>(recorded)
    if (wanted(event)) return event
  }
  return null
}

/** How long a request waits for views that are behind the log before it is told to come again. */
const BEHIND_MS = 2_000

/**
 * Resolves when the views have passed the end of the log as it is now: what they lack then does not exist. Throws
 * LogUnavailable when they do not get there in time, for then nobody can say no (architecture, rule 7).
 */
export async function seenEverything({ log, views }: Pick<Core, 'log' | 'views'>): Promise<void> {
  if (await views.caughtUp(await log.head(), BEHIND_MS)) return
  throw new LogUnavailable('the views are behind the log: what they lack may be in it')
}

export const unseal = <S>(core: Pick<Core, 'keyring'>, event: Decoded): Promise<S | null> =>
  openSealed<S>(core.keyring, event)

export const sha256 = (text: string): string => hash('sha256', text)

/** Outcomes that say nothing about the command, only that it could not be carried out now. */
export const isPassing = (code: string): boolean =>
  code === 'overloaded' || code === 'internal_error' || code === 'conflict'

/** Repeats what the log could not take, until it can: used where the outside effect has happened and must be recorded. */
export async function untilRecorded<T extends { ok: boolean; code?: string }>(
  core: Pick<Core, 'clock'>,
  attempt: () => Promise<T>
): Promise<T> {
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 5_000)) {
    const outcome = await attempt()
    if (outcome.ok || !isPassing(outcome.code ?? '')) return outcome
    await new Promise<void>(resolve => core.clock.after(waitMs, resolve))
  }
}

export const isUnavailable = (error: unknown): boolean => error instanceof LogUnavailable
