/** One of the threads that hand appends to the writer's: what it asks for, and the answers in the order of its requests. */
import type { Position } from '../port.ts'
import type { GroupCommit } from './group-commit.ts'
import { type PackedAnswer, packAnswer, unpackRequest } from './packed.ts'
import type { Answer, FromThread, Port, ToThread } from './protocol.ts'
import { isToThread } from './protocol.ts'

export type ThreadClient = {
  /** A group is durable: the client hears what became of its own appends in it, and of the log's end. */
  committed(head: Position): void
  readonly say: (message: FromThread) => void
  /** Hears nothing more. */
  leave(): void
}

export type ThreadClientOptions = {
  readonly port: Port
  readonly commits: GroupCommit
  readonly erase: (stream: string) => Promise<void>
  /** Hears of groups of others, too: its followers wait for them. */
  readonly isFollowing: boolean
  /** Only one thread's asks for anchors. */
  readonly onAnchorWith?: (privateKey: string) => void
  readonly onClose: () => void
}

export function createThreadClient(options: ThreadClientOptions): ThreadClient {
  const { port, commits, erase, isFollowing, onAnchorWith, onClose } = options
  const say = (message: FromThread): void => port.postMessage(message)
  let single: PackedAnswer[] = []
  let bulk: PackedAnswer[] = []
  const answerSingle = (answer: Answer): void => void single.push(packAnswer(answer))
  const answerBulk = (answer: Answer): void => void bulk.push(packAnswer(answer))

  async function eraseAndSay(id: number, stream: string): Promise<void> {
    try {
      commits.flush()
      await erase(stream)
      say({ kind: 'log:erased', id, problem: null })
    } catch (error) {
      say({ kind: 'log:erased', id, problem: reasonOf(error, 'the stream was not erased') })
    }
  }

  function handle(message: ToThread): void {
    if (message.kind === 'log:hello') say({ kind: 'log:ready' })
    else if (message.kind === 'log:append')
      for (const packed of message.requests) {
        const request = unpackRequest(packed)
        commits.add(request, request.isBulk ? answerBulk : answerSingle)
      }
    else if (message.kind === 'log:erase') void eraseAndSay(message.id, message.stream)
    else if (message.kind === 'log:anchor-with') onAnchorWith?.(message.privateKey)
    else onClose()
  }

  function hear(message: unknown): void {
    if (isToThread(message)) handle(message)
  }

  port.on('message', hear)
  return {
    committed(head) {
      if (!isFollowing && single.length === 0 && bulk.length === 0) return
      say({ kind: 'log:committed', single, bulk, head })
      single = []
      bulk = []
    },
    say,
    leave: () => void port.off('message', hear)
  }
}

export const reasonOf = (error: unknown, otherwise: string): string =>
  error instanceof Error ? error.message : otherwise
