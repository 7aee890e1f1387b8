/**
 * What a logged event has left to do: steps that span streams and were cut off, and things whose time has come.
 * The rows of the todo view are the list; doing one twice is doing it once (architecture, rule 3).
 */
import type { TodoRow } from '../projections/port.ts'
import { idOf, streamOf } from './aggregates.ts'
import { alarm, coalesced } from './clock.ts'
import { type Core, now, ownCommand } from './core.ts'
import type { Destinations } from './destinations.ts'
import type { Erasure } from './erasure.ts'
import type { Numbers } from './numbers.ts'
import type { Pairing } from './pairing.ts'
import type { ShardWorker } from './shard-work.ts'

export type Reactor = ShardWorker & { stop(): Promise<void> }
export type ReactorOptions = {
  readonly core: Core
  readonly numbers: Numbers
  readonly pairing: Pairing
  readonly destinations: Destinations
  readonly erasure: Pick<Erasure, 'complete'>
}

const TODOS_AT_ONCE = 128
const WAITING_AT_ONCE = 256
/** A request is given this long to finish its own steps before they are finished for it. */
const PATIENCE_MS = 2_000
/** What could not be done now is tried again after this. */
const AGAIN_MS = 1_000

export function createReactor({ core, numbers, pairing, destinations, erasure }: ReactorOptions): Reactor {
  const { views, clock, logger } = core
  let stopping = false
  let running: Promise<void> = Promise.resolve()
  const timer = alarm(clock, () => work())

  async function failWaiting(channelId: string): Promise<void> {
    for (const state of ['queued', 'retrying'] as const)
      for (const row of views.queued(channelId, state, WAITING_AT_ONCE)) {
        const command = { type: 'FailWaiting', at: now(core), code: 'channel_deleted' } as const
        await core.aggregates.messages.ask(
          streamOf.message(row.messageId),
          command,
          ownCommand(core, row.tenantId, 'system')
        )
      }
  }

  function act(todo: TodoRow): Promise<void> {
    switch (todo.kind) {
      case 'finish_number':
        return numbers.finish(todo.stream)
      case 'finish_pairing':
        return pairing.finish(idOf(todo.stream))
      case 'expire_attempt':
        return pairing.expire(idOf(todo.stream))
      case 'release_number':
        return numbers.release(todo.subject)
      case 'fail_waiting':
        return failWaiting(todo.subject)
      case 'finish_erasure':
        return erasure.complete(todo.subject)
      case 'finish_destination':
        return destinations.finish(todo.stream, todo.subject)
    }
  }

  /** Steps that a request normally takes itself are left to it for a moment. */
  const dueAt = (todo: Pick<TodoRow, 'kind' | 'due'>): number =>
    Date.parse(todo.due) + (todo.kind === 'expire_attempt' || todo.kind === 'fail_waiting' ? 0 : PATIENCE_MS)

  const isTime = (todo: TodoRow): boolean => !stopping && core.works(todo.subject) && dueAt(todo) <= clock.now()

  async function tryTo(todo: TodoRow): Promise<void> {
    await act(todo).catch(error => logger.warn({ err: error, kind: todo.kind }, 'reaction failed, tried again later'))
  }

  async function round(): Promise<void> {
    const at = now(core)
    let page: readonly TodoRow[]
    // To the end of what is due: things that cannot be done now must not keep others from their turn.
    for (let last: TodoRow | undefined; ; last = page.at(-1)) {
      page = views.dueTodos(at, core.workedShards(), TODOS_AT_ONCE, last)
      for (const todo of page) if (isTime(todo)) await tryTo(todo)
      if (stopping || page.length < TODOS_AT_ONCE) break
    }
    const next = views.nextTodoDue(core.workedShards())
    if (next !== null && !stopping) timer.at(Math.max(Date.parse(next), clock.now() + AGAIN_MS))
  }

  const work = coalesced(
    () => {
      running = round()
      return running
    },
    error => logger.error({ err: error }, 'reactor stumbled')
  )

  views.onPage(({ touched }) => {
    if (!stopping && touched.todo) work()
  })

  return {
    async open() {
      work()
    },
    close: () => running,
    async stop() {
      stopping = true
      timer.clear()
      await running.catch(() => undefined)
    }
  }
}
