/**
 * What happened, as the domain sees it. Times are ISO 8601 UTC strings.
 * `sealed` is the personal part (or a secret): the codec encrypts it under the key of `subject`, a contact id or `tenant`.
 * An event that was read back has no `sealed`: whoever needs it opens it through the keyring, and may find it erased.
 */
export type Event<Type extends string = string, Data = unknown, Sealed = unknown> = {
  readonly type: Type
  /** Broker time: when we recorded it. */
  readonly at: string
  /** The provider's own time of it, when there is one. */
  readonly providerAt?: string
  readonly data: Data
  readonly subject?: string
  readonly sealed?: Sealed
}

/** A refusal: the code is part of the contract (`error.code`). Nothing is recorded. */
export type Rejection = { readonly rejected: string; readonly details?: readonly { path: string; message: string }[] }

export const reject = (code: string): Rejection => ({ rejected: code })

export const isRejection = (decision: unknown): decision is Rejection =>
  typeof decision === 'object' && decision !== null && 'rejected' in decision

/** The shape of every aggregate: pure, synchronous, total. */
export type Decider<State, Command, E extends Event> = {
  readonly initial: State
  /** The events that the command causes; none when it changes nothing. */
  decide(state: State, command: Command): readonly E[] | Rejection
  evolve(state: State, event: E): State
}

/** An event that carries `subject` and `sealed` only when there is something to seal. */
export function sealedBy<S>(
  subject: string | null,
  sealed: S | null
): { subject: string; sealed: S } | Record<never, never> {
  return subject === null || sealed === null ? {} : { subject, sealed }
}

/** `providerAt` as an optional member. */
export function providerTime(providerAt: string | null | undefined): { providerAt: string } | Record<never, never> {
  return providerAt ? { providerAt } : {}
}
