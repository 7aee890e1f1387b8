/** Exit codes of every command: 0 done, 1 it failed or found a fault, 2 it was asked wrongly. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/** A command that cannot do what it was asked: the message is for people, no stack needed. Exit code 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}
