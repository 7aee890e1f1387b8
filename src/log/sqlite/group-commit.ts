import type { AppendRequest } from '../append-request.ts'
import type { Position } from '../port.ts'
import { LogUnavailable, MAX_APPENDS_PER_COMMIT } from '../port.ts'
import type { Answer, Written } from './protocol.ts'
import type { Writer } from './writer.ts'

/** Appends that arrive together share a commit; the answers come in their order. */
export type GroupCommit = {
  add(request: AppendRequest, settle: (answer: Answer) => void): void
  append(request: AppendRequest): Promise<Written>
  /** Commits everything that waits, now. */
  flush(): void
  head(): Position
}

export type GroupCommitOptions = {
  readonly writer: Writer
  /** Runs a task after whatever has arrived already was taken in. */
  readonly schedule: (task: () => void) => void
  /** After every group: its answers are settled, and `head` is durable. */
  readonly onGroup: (head: Position) => void
}

type Waiting = { readonly request: AppendRequest; readonly settle: (answer: Answer) => void }

export function createGroupCommit({ writer, schedule, onGroup }: GroupCommitOptions): GroupCommit {
  let waiting: Waiting[] = []
  let scheduled = false
  let head = writer.reader.head()

  function add(request: AppendRequest, settle: (answer: Answer) => void): void {
    waiting.push({ request, settle })
    plan()
  }

  function plan(): void {
    if (scheduled) return
    scheduled = true
    schedule(turn)
  }

  // One group a turn: what arrives during its fsync joins the next one.
  function turn(): void {
    scheduled = false
    commitGroup()
    if (waiting.length > 0) plan()
  }

  function commitGroup(): void {
    if (waiting.length === 0) return
    const group = waiting.slice(0, MAX_APPENDS_PER_COMMIT)
    waiting = waiting.slice(MAX_APPENDS_PER_COMMIT)
    const answers = tryCommit(group.map(({ request }) => request))
    for (const [index, answer] of answers.entries()) {
      if (answer.kind === 'appended') head = Math.max(head, answer.position)
      group[index]?.settle(answer)
    }
    onGroup(head)
  }

  function tryCommit(requests: readonly AppendRequest[]): Answer[] {
    try {
      return writer.commit(requests)
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'the event log cannot be written'
      return requests.map(() => ({ kind: 'unavailable', reason }))
    }
  }

  return {
    add,
    append: request => new Promise((resolve, reject) => add(request, answer => settle(answer, resolve, reject))),
    flush() {
      while (waiting.length > 0) commitGroup()
    },
    head: () => head
  }
}

/** Turns an answer into the outcome of a promise: only "unavailable" rejects. */
export function settle(answer: Answer, resolve: (result: Written) => void, reject: (error: Error) => void): void {
  if (answer.kind === 'unavailable') reject(new LogUnavailable(answer.reason))
  else resolve(answer)
}
