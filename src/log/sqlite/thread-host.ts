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
import type { FromThread, Port } from './protocol.ts'
import { isToThread } from './protocol.ts'
import { logFile } from './schema.ts'
import { createThreadClient, reasonOf } from './thread-client.ts'
import type { Writer } from './writer.ts'
import { openWriter } from './writer.ts'

export type LogThreadOptions = {
  readonly dataDir: string
  /** The port whose other end `openSqliteLog` has, in the main thread. */
  readonly port: Port
  /** The same for other threads that append. They have closed their logs before the main thread closes its own. */
  readonly otherPorts?: readonly Port[]
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
  const { dataDir, port, otherPorts = [], clock = systemClock } = options
  const { inspect = () => undefined, onCommitted = () => undefined } = options
  const writer = opened(dataDir, port, inspect)
  const commits = createGroupCommit({
    writer,
    schedule: task => void setImmediate(task),
    onGroup(head) {
      for (const client of [main, ...others]) client.committed(head)
      keeper?.grown()
      onCommitted()
      writer.tidy()
    }
  })
  const erase = createEraser(writer, clock)
  let keeper: AnchorKeeper | null = null
  let isClosing = false

  const main = createThreadClient({
    port,
    commits,
    erase,
    isFollowing: true,
    onAnchorWith: keepAnchors,
    onClose() {
      if (isClosing) return
      isClosing = true
      void shut()
    }
  })
  const others = otherPorts.map(other => {
    const client = createThreadClient({
      port: other,
      commits,
      erase,
      isFollowing: false,
      onClose() {
        client.leave()
        client.say({ kind: 'log:closed' })
      }
    })
    return client
  })

  async function shut(): Promise<void> {
    commits.flush()
    await keeper?.close()
    main.leave()
    writer.close()
    main.say({ kind: 'log:closed' })
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
      onAnchor: line => main.say({ kind: 'log:anchor', line }),
      onProblem: error => main.say({ kind: 'log:problem', reason: reasonOf(error, 'no anchor was written') })
    })
    keeper.grown()
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
