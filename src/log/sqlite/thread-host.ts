import type { AnchorKeeper } from '../anchor-keeper.ts'
import { createAnchorKeeper } from '../anchor-keeper.ts'
import { ANCHOR_STREAM, createAnchorSigner } from '../anchors.ts'
import { requestOf } from '../append-request.ts'
import type { Clock } from '../clock.ts'
import { systemClock } from '../clock.ts'
import type { EventVersion } from '../event-versions.ts'
import type { RecordedEvent } from '../port.ts'
import { createEraser } from './eraser.ts'
import { createGroupCommit } from './group-commit.ts'
import type { Answer, FromThread, Port, ToThread } from './protocol.ts'
import { isToThread } from './protocol.ts'
import { logFile } from './schema.ts'
import type { Writer } from './writer.ts'
import { openWriter } from './writer.ts'

export type LogThreadOptions = {
  readonly dataDir: string
  /** The port whose other end `openSqliteLog` has. */
  readonly port: Port
  readonly clock?: Clock
  /** Sees what the log holds before anything else does; what it throws ends the start. */
  readonly inspect?: (held: readonly EventVersion[]) => void
  /** Called after every group of appends, when it is durable and answered. */
  readonly onCommitted?: () => void
}

/**
 * The writer's side of the embedded log: runs inside a worker thread. Throws LogUnavailable when the log cannot be
 * opened, and the main thread's `openSqliteLog` rejects with the same words.
 */
export function createLogThread(options: LogThreadOptions): void {
  const { dataDir, port, clock = systemClock, inspect = () => undefined, onCommitted = () => undefined } = options
  const say = (message: FromThread): void => port.postMessage(message)
  const writer = opened(dataDir, port, inspect)
  let single: Answer[] = []
  let bulk: Answer[] = []
  const commits = createGroupCommit({
    writer,
    schedule: task => void setImmediate(task),
    onGroup(head) {
      say({ kind: 'log:committed', single, bulk, head })
      single = []
      bulk = []
      keeper?.grown()
      onCommitted()
    }
  })
  const erase = createEraser(writer, clock)
  let keeper: AnchorKeeper | null = null
  let isClosing = false

  const answerSingle = (answer: Answer): void => void single.push(answer)
  const answerBulk = (answer: Answer): void => void bulk.push(answer)

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
        append: (stream, expected, events) => commits.append(requestOf(stream, expected, events))
      },
      newest: newestAnchor(),
      signer: createAnchorSigner(privateKey),
      clock,
      onAnchor: line => say({ kind: 'log:anchor', line }),
      onProblem: error => say({ kind: 'log:problem', reason: reasonOf(error, 'no anchor was written') })
    })
    keeper.grown()
  }

  function handle(message: ToThread): void {
    if (message.kind === 'log:hello') say({ kind: 'log:ready' })
    else if (message.kind === 'log:append')
      for (const request of message.requests) commits.add(request, request.isBulk ? answerBulk : answerSingle)
    else if (message.kind === 'log:erase') void eraseAndSay(message.id, message.stream)
    else if (message.kind === 'log:anchor-with') keepAnchors(message.privateKey)
    else if (!isClosing) {
      isClosing = true
      void shut()
    }
  }

  function hear(message: unknown): void {
    if (isToThread(message)) handle(message)
  }

  port.on('message', hear)
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
