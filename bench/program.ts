/** Programs of the bench run in processes of their own: they share nothing with what they measure but the machine. */
import { fork } from 'node:child_process'

export type Program = {
  readonly pid: number
  /** Sends an order and resolves with its answer; rejects when the program fails or ends. */
  ask<Answer>(order: unknown): Promise<Answer>
  stop(): Promise<void>
}

type Reply = { readonly id: number; readonly answer?: unknown; readonly error?: string }
type Pending = { readonly resolve: (answer: unknown) => void; readonly reject: (error: Error) => void }

/** Starts `bench/<name>.js`. */
export function startProgram(name: string): Program {
  const child = fork(new URL(`./${name}.js`, import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const pending = new Map<number, Pending>()
  let orders = 0
  child.on('message', message => {
    const { id, answer, error } = message as Reply
    const order = pending.get(id)
    pending.delete(id)
    if (error === undefined) order?.resolve(answer)
    else order?.reject(new Error(`${name}: ${error}`))
  })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  void ended.then(() => {
    for (const order of pending.values()) order.reject(new Error(`${name} has ended`))
  })
  return {
    pid: child.pid ?? 0,
    ask: <Answer>(order: unknown) =>
      new Promise<Answer>((resolve, reject) => {
        const id = ++orders
        pending.set(id, { resolve: answer => resolve(answer as Answer), reject })
        child.send({ id, order })
      }),
    stop() {
      if (child.connected) child.disconnect()
      return ended
    }
  }
}

/** The program's side: answers the orders of its parent, and ends when the parent lets go. */
export function obey<Order>(handle: (order: Order) => Promise<unknown>): void {
  process.on('message', message => {
    const { id, order } = message as { id: number; order: Order }
    handle(order).then(
      answer => process.send?.({ id, answer }),
      error => process.send?.({ id, error: error instanceof Error ? error.message : String(error) })
    )
  })
  process.on('disconnect', () => process.exit(0))
}
