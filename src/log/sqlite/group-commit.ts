import type { AppendRequest } from '../append-request.ts'
import type { Position } from '../port.ts'
import { LogUnavailable, MAX_APPENDS_PER_COMMIT } from '../port.ts'
import type { Answer, Written } from './protocol.ts'
import type { Writer } from './writer.ts'

/** Appends that arrive together share a commit, single ones first; the answers come in the order of their kind. */
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
  /** In ms, of a clock that never goes back. */
  readonly now?: () => number
}

type Waiting = { readonly request: AppendRequest; readonly settle: (answer: Answer) => void }

/** A commit that a single request waits for, or that one is likely to come to wait for, is a short one. */
const BULK_BESIDE_SINGLE = 64
const BULK_BETWEEN_SINGLES = 128
const BULK_ALONE = MAX_APPENDS_PER_COMMIT
/** So long after a single one, the next is likely. */
const SINGLES_COME_MS = 100
/** However many single ones there are, a batch goes on. */
const BULK_LEAST = 16

export function createGroupCommit({
  writer,
  schedule,
  onGroup,
  now = () => performance.now()
}: GroupCommitOptions): GroupCommit {
  let single: Waiting[] = []
  let bulk: Waiting[] = []
  let singleAt = Number.NEGATIVE_INFINITY
  let scheduled = false
  let head = writer.reader.head()

  function add(request: AppendRequest, settle: (answer: Answer) => void): void {
    if (!request.isBulk) singleAt = now()
    ;(request.isBulk ? bulk : single).push({ request, settle })
    plan()
  }

  const isWaiting = (): boolean => single.length > 0 || bulk.length > 0

  function plan(): void {
    if (scheduled) return
    scheduled = true
    schedule(turn)
  }

  // One group a turn: what arrives during its fsync joins the next one.
  function turn(): void {
    scheduled = false
    commitGroup()
    if (isWaiting()) plan()
  }

  function bulkRoom(): number {
    if (single.length > 0) return Math.max(BULK_LEAST, BULK_BESIDE_SINGLE - single.length)
    return now() - singleAt < SINGLES_COME_MS ? BULK_BETWEEN_SINGLES : BULK_ALONE
  }

  function commitGroup(): void {
    if (!isWaiting()) return
    const room = bulkRoom()
    const ofSingle = single.slice(0, MAX_APPENDS_PER_COMMIT - Math.min(room, bulk.length))
    single = single.slice(ofSingle.length)
    // What needs a single append that is left for the next commit is left with it.
    const inTurn = bulk.slice(0, room)
    const needing = single.length > 0 ? inTurn.findIndex(({ request }) => request.need && !request.need.isBulk) : -1
    const ofBulk = needing < 0 ? inTurn : inTurn.slice(0, needing)
    bulk = bulk.slice(ofBulk.length)
    const group = [...ofSingle, ...ofBulk]
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
      while (isWaiting()) commitGroup()
    },
    head: () => head
  }
}

/** Turns an answer into the outcome of a promise: only "unavailable" rejects. */
export function settle(answer: Answer, resolve: (result: Written) => void, reject: (error: Error) => void): void {
  if (answer.kind === 'unavailable') reject(new LogUnavailable(answer.reason))
  else resolve(answer)
}
