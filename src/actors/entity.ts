/**
 * The shell around every decider: one actor a stream. It loads the stream, decides, appends with the expected revision,
 * and moves its state only when the append is durable. Refusals are values; what throws is unknown or broken.
 */
import { type Decider, type Event, isRejection, type Rejection } from '../domain/event.ts'
import { appendEvents, type CommandContext, decode } from '../log/codec.ts'
import type { Keyring } from '../log/keyring.ts'
import { type AppendResult, type EventLog, LogUnavailable, NO_STREAM } from '../log/port.ts'
import type { Clock } from './clock.ts'
import type { Mailbox, Mailboxes } from './mailbox.ts'

export type Outcome<State, E> =
  | {
      readonly ok: true
      readonly state: State
      /** What this command recorded; empty when it changed nothing. */
      readonly events: readonly E[]
      readonly revision: number
      /** Position of the last event recorded, null when nothing was. */
      readonly position: number | null
    }
  | { readonly ok: false; readonly code: string; readonly details?: Rejection['details'] }

export type AskOptions = {
  /** The stream most likely does not exist yet: decide on the initial state without looking. A conflict looks. */
  readonly fresh?: boolean
}

export type Entities<State, Command, E extends Event> = {
  ask(stream: string, command: Command, context: CommandContext, options?: AskOptions): Promise<Outcome<State, E>>
  /** State as of the log, or as this node last saw it. */
  read(stream: string): Promise<State>
  /** Another node, or another hand, has written: the next one to ask reads what was missed. */
  refresh(stream: string): void
  /** Resolves when nothing is pending any more. */
  stop(): Promise<void>
}

export type EntityOptions = {
  readonly log: EventLog
  readonly keyring: Keyring
  readonly clock: Clock
  readonly mailboxes: Mailboxes
  /** More than one node can hold a stream: an empty decision is trusted only after a reload. */
  readonly shared: boolean
  /** A read sees what other nodes have written meanwhile; else only what `refresh` told of. */
  readonly readsFresh?: boolean
  readonly onAppended: (tenant: string | null, position: number) => void
  readonly onCrash: (error: unknown, stream: string) => void
}

/** Decisions made anew after a conflict, before the caller gets 409 `conflict`. */
const APPEND_ATTEMPTS = 5
/** Commands waiting in all mailboxes of one kind; beyond it callers get 503 `overloaded`. */
const PENDING_MAX = 20_000
const IDLE_MS = 30_000
const SWEEP_MS = 5_000
/** Idle actors that leave in one turn of the event loop. */
const SWEEP_SLICE = 200
/** How many leave together when there is no room for one more. */
const LEAVING = 32
/** Idle actors kept; the least recently used leave first. */
const RESIDENT_MAX = 20_000

type Held<State> = { readonly state: State; readonly revision: number }
type Ask<State, Command, E> = {
  readonly command: Command | null
  readonly context: CommandContext | null
  readonly fresh: boolean
  readonly answer: (outcome: Outcome<State, E>) => void
}
type Entity<State, Command, E> = {
  /** Null until the stream has begun and somebody asks for more: thousands of messages may wait a long time. */
  mailbox: Mailbox<Ask<State, Command, E>> | null
  /** As of its last command; null until it has been loaded, and after a crash. */
  held: Held<State> | null
  pending: number
  usedAt: number
}

export function createEntities<State, Command, E extends Event>(
  decider: Decider<State, Command, E>,
  options: EntityOptions
): Entities<State, Command, E> {
  const { log, clock, mailboxes, shared } = options
  const entities = new Map<string, Entity<State, Command, E>>()
  const stale = new Set<string>()
  let pending = 0
  let whenIdle: (() => void) | null = null
  let stopSweep = clock.after(SWEEP_MS, sweep)

  async function load(stream: string, from: Held<State> | null): Promise<Held<State>> {
    let state = from?.state ?? decider.initial
    let revision = from?.revision ?? NO_STREAM
    for await (const recorded of log.read(stream, { from: revision + 1 })) {
      state = decider.evolve(state, decode<E>(recorded))
      revision = recorded.revision
    }
    return { state, revision }
  }

  async function handle(
    stream: string,
    entity: Entity<State, Command, E>,
    { command, context, fresh, answer }: Ask<State, Command, E>
  ): Promise<void> {
    try {
      if (entity.held !== null && stale.delete(stream)) entity.held = await load(stream, entity.held)
      if (command === null || context === null) {
        if (entity.held === null || options.readsFresh) entity.held = await load(stream, entity.held)
        const { state, revision } = entity.held
        answer({ ok: true, state, events: [], revision, position: null })
        return
      }
      const { held, outcome } = await run(stream, entity.held, command, context, fresh)
      if (entity.held === null || entity.held.revision <= held.revision) entity.held = held
      answer(outcome)
    } catch (error) {
      // The stream is the truth: whatever was half done is read back with the next command.
      entity.held = null
      if (!(error instanceof LogUnavailable)) options.onCrash(error, stream)
      answer({ ok: false, code: error instanceof LogUnavailable ? 'overloaded' : 'internal_error' })
    }
  }

  async function run(
    stream: string,
    known: Held<State> | null,
    command: Command,
    context: CommandContext,
    fresh: boolean
  ): Promise<{ held: Held<State>; outcome: Outcome<State, E> }> {
    let certain = known === null || !shared
    let held = known ?? (fresh ? { state: decider.initial, revision: NO_STREAM } : await load(stream, null))
    for (let attempt = 1; attempt <= APPEND_ATTEMPTS; attempt++) {
      const decision = decider.decide(held.state, command)
      const rejection = isRejection(decision) ? decision : null
      const events = rejection ? [] : (decision as readonly E[])
      if (events.length === 0) {
        if (!certain) {
          held = await load(stream, held)
          certain = true
          continue
        }
        if (rejection) return { held, outcome: refused(rejection) }
        return { held, outcome: { ok: true, state: held.state, events, revision: held.revision, position: null } }
      }
      const appended = await appendEvents(options, stream, held.revision, events, context)
      if (appended.kind === 'appended') {
        const state = events.reduce((folded, event) => decider.evolve(folded, event), held.state)
        options.onAppended(context.tenant, appended.position)
        const { position, revision } = appended
        return { held: { state, revision }, outcome: { ok: true, state, events, revision, position } }
      }
      if (appended.kind !== 'conflict') return { held, outcome: { ok: false, code: notAppended(appended) } }
      held = await load(stream, held)
      certain = true
    }
    return { held, outcome: { ok: false, code: 'conflict' } }
  }

  /** Taken out and put back, so that the map's order is the order of use. */
  function use(stream: string, entity: Entity<State, Command, E>): void {
    entities.delete(stream)
    entities.set(stream, entity)
    entity.usedAt = clock.now()
  }

  function tell(
    stream: string,
    command: Command | null,
    context: CommandContext | null,
    fresh: boolean
  ): Promise<Outcome<State, E>> {
    if (pending >= PENDING_MAX) return Promise.resolve({ ok: false, code: 'overloaded' })
    const known = entities.get(stream)
    if (!known && entities.size >= RESIDENT_MAX + LEAVING) passivate(Number.POSITIVE_INFINITY, LEAVING)
    const entity = known ?? { mailbox: null, held: null, pending: 0, usedAt: 0 }
    use(stream, entity)
    entity.pending++
    pending++
    return new Promise(resolve => {
      const ask: Ask<State, Command, E> = {
        command,
        context,
        fresh,
        answer(outcome) {
          entity.pending--
          pending--
          if (pending === 0) whenIdle?.()
          // Of thousands at once none is worth keeping until its turn comes.
          if (context?.isBulk && entity.pending === 0 && entity.mailbox === null) entities.delete(stream)
          resolve(outcome)
        }
      }
      // What begins a stream waits for nobody: "no stream yet" is its lock, and whoever comes second meets a conflict.
      if (fresh && !known) return void handle(stream, entity, ask)
      entity.mailbox ??= mailboxes.spawn(stream, next => handle(stream, entity, next))
      entity.mailbox.tell(ask)
    })
  }

  /**
   * The least recently used of those that have been idle since then, at most so many of them, leave. Unreachable first,
   * stopped second: a mailbox that can still be found would lose what it is told. Answers how many left.
   */
  function passivate(idleSince: number, most: number): number {
    let left = 0
    let seen = 0
    for (const [stream, entity] of entities) {
      if (left === most || seen++ === 2 * most || entity.usedAt > idleSince) break
      if (entity.pending > 0) continue
      entities.delete(stream)
      stale.delete(stream)
      entity.mailbox?.stop()
      left++
    }
    return left
  }

  /** A slice at a time: thousands may have become idle together. */
  function sweep(): void {
    const isDone = passivate(clock.now() - IDLE_MS, SWEEP_SLICE) < SWEEP_SLICE
    stopSweep = clock.after(isDone ? SWEEP_MS : 0, sweep)
  }

  return {
    ask: (stream, command, context, ask = {}) => tell(stream, command, context, ask.fresh === true),
    async read(stream) {
      const entity = entities.get(stream)
      // Nothing is under way: what it holds is what it would answer, without a turn of the event loop.
      if (!options.readsFresh && entity?.pending === 0 && entity.held !== null && !stale.has(stream)) {
        use(stream, entity)
        return entity.held.state
      }
      const outcome = await tell(stream, null, null, false)
      if (!outcome.ok) throw new LogUnavailable(`${stream} cannot be read: ${outcome.code}`)
      return outcome.state
    },
    refresh(stream) {
      if (entities.has(stream)) stale.add(stream)
    },
    async stop() {
      if (pending > 0) await new Promise<void>(resolve => (whenIdle = resolve))
      stopSweep()
      for (const entity of entities.values()) entity.mailbox?.stop()
      entities.clear()
    }
  }
}

const refused = (rejection: Rejection): { ok: false; code: string; details?: Rejection['details'] } =>
  rejection.details
    ? { ok: false, code: rejection.rejected, details: rejection.details }
    : { ok: false, code: rejection.rejected }

function notAppended(result: Exclude<AppendResult, { kind: 'appended' | 'conflict' }>): string {
  if (result.kind === 'deleted') return 'gone'
  throw new Error(`append refused: ${result.reason}`)
}
