/** Given these events, when this command, then these events or that refusal. */
import type { Decider, Event } from '../../src/domain/event.ts'
import { isRejection } from '../../src/domain/event.ts'

type Assertions = {
  strictSame(found: unknown, wanted: unknown, message: string): unknown
  ok(value: unknown, message: string): unknown
}
type Suite = { test(name: string, run: (t: Assertions) => Promise<void>): unknown }

export type Row<Command, E> = {
  /** The line of the state table that the row stands for. */
  readonly line: string
  readonly given: readonly E[]
  readonly when: Command
  readonly expect: readonly E[] | { readonly rejected: string }
}

export function fold<State, Command, E extends Event>(
  decider: Decider<State, Command, E>,
  events: readonly E[],
  from: State = decider.initial
): State {
  return events.reduce((state, event) => frozen(decider.evolve(state, event)), frozen(from))
}

/**
 * Checks each row, and that its command, decided once more on the state that it led to, changes nothing.
 * `anotherFact` names the commands whose repeat is legitimately a second fact.
 */
export function checkRows<State, Command extends { readonly type: string }, E extends Event>(
  suite: Suite,
  decider: Decider<State, Command, E>,
  rows: readonly Row<Command, E>[],
  anotherFact: readonly Command['type'][] = []
): void {
  for (const { line, given, when, expect } of rows)
    suite.test(line, async t => {
      const before = fold(decider, given)
      const decision = decider.decide(before, frozen(when))
      t.strictSame(decision, expect, `${when.type} is decided as the table says`)
      if (isRejection(decision)) return
      const again = decider.decide(fold(decider, decision, before), when)
      const changesNothing = isRejection(again) || again.length === 0
      t.ok(changesNothing !== anotherFact.includes(when.type) || decision.length === 0, `${when.type} once more`)
    })
}

/** A decider that changes what it was given throws. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) frozen(member)
  }
  return value
}
