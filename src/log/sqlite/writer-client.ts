import type { AppendRequest } from '../append-request.ts'
import { problemOf, requestOf } from '../append-request.ts'
import type { EventLog } from '../port.ts'
import { LogUnavailable } from '../port.ts'
import { createOutstanding } from './outstanding.ts'
import { packRequest } from './packed.ts'
import type { FromThread, Port, ToThread, Written } from './protocol.ts'
import { isFromThread } from './protocol.ts'

/** A thread's line to the writer in the log's thread. */
export type WriterClient = {
  /** Resolves when the thread has opened the log, rejects with LogUnavailable when it cannot. */
  readonly ready: Promise<void>
  append(...given: Parameters<EventLog['append']>): Promise<Written>
  settled(): Promise<void>
  erase(stream: string): Promise<void>
  anchorWith(privateKey: string): void
  /** Resolves when all answers have come and the thread has closed the log. */
  close(): Promise<void>
}

export type WriterClientOptions = {
  readonly port: Port
  readonly onCommitted: () => void
  readonly onAnchor: (line: string) => void
  readonly onProblem: (error: unknown) => void
}

export function connectWriter({ port, onCommitted, onAnchor, onProblem }: WriterClientOptions): WriterClient {
  const single = createOutstanding()
  const bulk = createOutstanding()
  const erasing = new Map<number, Pending>()
  const opened = pending()
  const closed = pending()
  let outbox: AppendRequest[] = []
  let erases = 0
  let state: 'open' | 'closing' | 'dead' = 'open'

  const say = (message: ToThread): void => port.postMessage(message)

  // Not async: a frame and a promise less for each append.
  const append: WriterClient['append'] = (stream, expected, events, options) => {
    if (state !== 'open') return refuse(state === 'dead' ? 'the thread of the event log has ended' : CLOSED)
    const request = requestOf(stream, expected, events, options)
    const reason = problemOf(request)
    if (reason) return Promise.resolve({ kind: 'invalid', reason })
    const outstanding = request.isBulk ? bulk : single
    if (outstanding.isFull()) return refuse('too many appends are waiting for the event log')
    // All appends of one turn of the event loop travel in one message.
    if (outbox.length === 0) setImmediate(flush)
    outbox.push(request)
    return outstanding.add(events)
  }

  function flush(): void {
    if (outbox.length === 0) return
    const requests = outbox.map(packRequest)
    outbox = []
    say({ kind: 'log:append', requests })
  }

  async function erase(stream: string): Promise<void> {
    if (state !== 'open') throw new LogUnavailable(CLOSED)
    flush()
    const erase = pending()
    erasing.set(erases, erase)
    say({ kind: 'log:erase', id: erases++, stream })
    return erase.promise
  }

  function erased(id: number, problem: string | null): void {
    const erase = erasing.get(id)
    erasing.delete(id)
    if (problem === null) erase?.resolve()
    else erase?.reject(new LogUnavailable(problem))
  }

  function closeWhenAnswered(): void {
    if (state === 'closing' && single.isEmpty() && bulk.isEmpty() && erasing.size === 0) say({ kind: 'log:close' })
  }

  function hear(message: FromThread): void {
    if (message.kind === 'log:ready') opened.resolve()
    else if (message.kind === 'log:failed') opened.reject(new LogUnavailable(message.reason))
    else if (message.kind === 'log:anchor') onAnchor(message.line)
    else if (message.kind === 'log:problem') onProblem(new LogUnavailable(message.reason))
    else if (message.kind === 'log:closed') closed.resolve()
    else {
      if (message.kind === 'log:erased') erased(message.id, message.problem)
      else {
        single.take(message.single)
        bulk.take(message.bulk)
        onCommitted()
      }
      closeWhenAnswered()
    }
  }

  /** The thread is gone: what it was asked may or may not be durable; what never left is not. */
  function die(cause: unknown): void {
    if (state === 'dead') return
    state = 'dead'
    const reason = cause instanceof Error ? cause.message : 'the thread of the event log has ended'
    opened.reject(new LogUnavailable(reason))
    const unsentBulk = outbox.filter(({ isBulk }) => isBulk).length
    bulk.fail(unsentBulk, reason)
    single.fail(outbox.length - unsentBulk, reason)
    for (const erase of erasing.values()) erase.reject(new LogUnavailable(reason))
    outbox = []
    erasing.clear()
    closed.resolve()
  }

  port.on('message', message => {
    if (isFromThread(message)) hear(message)
  })
  for (const event of ['error', 'exit', 'close']) port.on(event, die)
  say({ kind: 'log:hello' })

  return {
    ready: opened.promise,
    append,
    async settled() {
      await Promise.all([single.settled(), bulk.settled()])
    },
    erase,
    anchorWith: privateKey => say({ kind: 'log:anchor-with', privateKey }),
    close() {
      if (state === 'open') {
        flush()
        state = 'closing'
        closeWhenAnswered()
      }
      return closed.promise
    }
  }
}

const CLOSED = 'the event log is closed'

const refuse = (reason: string): Promise<never> => Promise.reject(new LogUnavailable(reason))

type Pending = { readonly resolve: () => void; readonly reject: (error: Error) => void }

function pending(): Pending & { readonly promise: Promise<void> } {
  let settlers: Pending = { resolve: () => {}, reject: () => {} }
  const promise = new Promise<void>((resolve, reject) => {
    settlers = { resolve, reject }
  })
  // A failure that nobody waits for yet is not an unhandled one.
  promise.catch(() => {})
  return { promise, ...settlers }
}
