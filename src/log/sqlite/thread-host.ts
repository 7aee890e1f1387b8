import type { AnchorKeeper } from '../anchor-keeper.ts'
import { createAnchorKeeper } from '../anchor-keeper.ts'
import { ANCHOR_STREAM, createAnchorSigner } from '../anchors.ts'
import type { Clock } from '../clock.ts'
import { systemClock } from '../clock.ts'
import type { EventVersion } from '../event-versions.ts'
import type { AppendResult, Expected, NewEvent, Position, RecordedEvent } from '../port.ts'
import { createEraser } from './eraser.ts'
import { createGroupCommit } from './group-commit.ts'
import type { Answer, FromThread, Port, ToThread } from './protocol.ts'
import { isToThread } from './protocol.ts'
import { logFile } from './schema.ts'
import type { Writer } from './writer.ts'
import { openWriter } from './writer.ts'

/** What else in the log's thread may do with it: the projection runner reads on its writer's own connection. */
export type LogThread = {
  /** The next events after a position in log order; empty only at the end of the log. */
  readPage(after: Position, limit: number): RecordedEvent[]
  /** Called after every group of appends, when it is durable and answered. The answer cancels it. */
  onCommitted(listener: (head: Position) => void): () => void
  /** Joins the next group. Rejects with LogUnavailable when nothing was written. */
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<AppendResult>
  /** Position of the newest durable event. */
  head(): Position
  /** The log is about to close or closed: nothing can be read any more. */
  isClosing(): boolean
  /** Commits what waits and closes the log. The main thread's `close` does it too. */
  close(): Promise<void>
}

export type LogThreadOptions = {
  readonly dataDir: string
  /** The port whose other end `openSqliteLog` has. */
  readonly port: Port
  readonly clock?: Clock
  /** Sees what the log holds before anything else does; what it throws ends the start. */
  readonly inspect?: (held: readonly EventVersion[]) => void
}

/**
 * The writer's side of the embedded log: runs inside a worker thread. Throws LogUnavailable when the log cannot be
 * opened, and the main thread's `openSqliteLog` rejects with the same words.
 */
export function createLogThread(options: LogThreadOptions): LogThread {
  const { dataDir, port, clock = systemClock, inspect = () => undefined } = options
  const say = (message: FromThread): void => port.postMessage(message)
  const writer = opened(dataDir, port, inspect)
  const listeners = new Set<(head: Position) => void>()
  let answers: Answer[] = []
  const commits = createGroupCommit({
    writer,
    schedule: task => void setImmediate(task),
    onGroup(head) {
      say({ kind: 'log:committed', answers, head })
      answers = []
      keeper?.grown()
      for (const listener of listeners) listener(head)
    }
  })
  const erase = createEraser(writer, clock)
  const append: LogThread['append'] = (stream, expected, events) => commits.append({ stream, expected, events })
  let keeper: AnchorKeeper | null = null
  let closing: Promise<void> | null = null

  const answer = (result: Answer): void => {
    answers.push(result)
  }

  async function eraseAndSay(id: number, stream: string): Promise<void> {
    try {
      commits.flush()
      await erase(stream)
      say({ kind: 'log:erased', id, problem: null })
    } catch (error) {
      say({ kind: 'log:erased', id, problem: reasonOf(error, 'the stream was not erased') })
    }
  }

  async function shut(): Promise<void> {
    commits.flush()
    await keeper?.close()
    port.off('message', hear)
    writer.close()
    say({ kind: 'log:closed' })
  }

  const newestAnchor = (): RecordedEvent | null => writer.reader.newest(ANCHOR_STREAM)

  function keepAnchors(privateKey: string): void {
    keeper = createAnchorKeeper({
      log: {
        hashes: writer.reader.hashes,
        waiting: after => commits.head() - after,
        newestAnchor,
        append
      },
      newest: newestAnchor(),
      signer: createAnchorSigner(privateKey),
      clock,
      onAnchor: line => say({ kind: 'log:anchor', line }),
      onProblem: error => say({ kind: 'log:problem', reason: reasonOf(error, 'no anchor was written') })
    })
    keeper.grown()
  }

  const close = (): Promise<void> => {
    closing ??= shut()
    return closing
  }

  function handle(message: ToThread): void {
    if (message.kind === 'log:hello') say({ kind: 'log:ready' })
    else if (message.kind === 'log:append') for (const request of message.requests) commits.add(request, answer)
    else if (message.kind === 'log:erase') void eraseAndSay(message.id, message.stream)
    else if (message.kind === 'log:anchor-with') keepAnchors(message.privateKey)
    else void close()
  }

  function hear(message: unknown): void {
    if (isToThread(message)) handle(message)
  }

  port.on('message', hear)
  return {
    readPage: writer.reader.page,
    onCommitted(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    append,
    head: commits.head,
    isClosing: () => closing !== null,
    close
  }
}

function opened(dataDir: string, port: Port, inspect: (held: readonly EventVersion[]) => void): Writer {
  let writer: Writer | undefined
  try {
    writer = openWriter({ file: logFile(dataDir) })
    inspect(writer.versions)
    return writer
  } catch (error) {
    writer?.close()
    const reason = reasonOf(error, 'the event log cannot be opened')
    // The main thread asks when it is ready to hear the answer.
    port.on('message', message => {
      if (isToThread(message)) port.postMessage({ kind: 'log:failed', reason } satisfies FromThread)
    })
    throw error
  }
}

const reasonOf = (error: unknown, otherwise: string): string => (error instanceof Error ? error.message : otherwise)
