/** Actors, as far as we need them: one message at a time, in order. The only file that knows nact. */
import { dispatch, spawn, start, stop } from 'nact'

export type Mailbox<Message> = {
  /** Queues the message. One that is told to a stopped mailbox is lost: stop only what nobody can reach any more. */
  tell(message: Message): void
  stop(): void
}

export type Mailboxes = {
  /** `handle` must not reject; the next message waits for it. */
  spawn<Message>(name: string, handle: (message: Message) => Promise<void>): Mailbox<Message>
  stop(): void
}

/** Entities hang directly under the system: a nact parent pays for each of its children on every message. */
export function nactMailboxes(onCrash: (error: unknown) => void): Mailboxes {
  const system = start()
  let spawned = 0
  return {
    spawn(name, handle) {
      // A stream's actor may come back before its predecessor has left, so the name alone is not unique.
      const reference = spawn(
        system,
        async (_state: null, message: unknown) => {
          await handle(message as Parameters<typeof handle>[0])
          return null
        },
        `${name}.${spawned++}`,
        {
          onCrash: (_message: unknown, error: unknown, context: { resume: unknown }) => {
            onCrash(error)
            return context.resume
          }
        } as never
      )
      return { tell: message => dispatch(reference, message), stop: () => stop(reference) }
    },
    stop: () => stop(system)
  }
}
