/**
 * Anchors on EventStoreDB: one node at a time writes them. Who does is agreed elsewhere; should two believe that it is
 * them, the revision that each append expects lets one through, and the other goes on from there.
 */
import { type AnchorKeeper, createAnchorKeeper } from '../anchor-keeper.ts'
import { ANCHOR_STREAM, createAnchorSigner, MAX_ANCHORED_EVENTS } from '../anchors.ts'
import { type Clock, systemClock } from '../clock.ts'
import type { RecordedEvent } from '../port.ts'
import type { EventStoreLog } from './home.ts'
import { createRecentHashes } from './recent-hashes.ts'

export type Anchoring = {
  /** A page that the node's follower has read. */
  followed(page: readonly RecordedEvent[]): void
  /** Writes anchors from now on, from where the log's newest one ends. Rejects with LogUnavailable; `begin` again then. */
  begin(privateKey: string): Promise<void>
  /** Anchors what was followed so far, and writes no more. */
  end(): Promise<void>
}

export type AnchoringOptions = {
  readonly log: Pick<EventStoreLog, 'append' | 'read' | 'hashes'>
  /** Where the follower begins. */
  readonly start: number
  readonly clock?: Clock
  /** Each anchor that this node wrote, as a line of JSON. */
  readonly onAnchor: (line: string) => void
  readonly onProblem: (error: unknown) => void
}

export function createAnchoring(options: AnchoringOptions): Anchoring {
  const { log, start, clock = systemClock, onAnchor, onProblem } = options
  const recent = createRecentHashes(start)
  let keeper: AnchorKeeper | null = null
  let turn: Promise<unknown> = Promise.resolve()

  /** Beginnings and ends one after the other. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = turn.then(work)
    turn = done.catch(() => undefined)
    return done
  }

  async function newestAnchor(): Promise<RecordedEvent | null> {
    for await (const event of log.read(ANCHOR_STREAM, { direction: 'backwards', limit: 1 })) return event
    return null
  }

  return {
    followed(page) {
      recent.add(page)
      keeper?.grown()
    },
    begin: privateKey =>
      inTurn(async () => {
        keeper ??= createAnchorKeeper({
          log: {
            hashes: async (after, limit) => recent.after(after, limit) ?? (await log.hashes(after, limit)),
            // What is not held in memory is more than an anchor covers, or waits since before the start.
            waiting: after => recent.countAfter(after) ?? MAX_ANCHORED_EVENTS,
            newestAnchor,
            append: log.append
          },
          newest: await newestAnchor(),
          signer: createAnchorSigner(privateKey),
          clock,
          onAnchor,
          onProblem
        })
        keeper.grown()
      }),
    end: () =>
      inTurn(async () => {
        const ending = keeper
        keeper = null
        await ending?.close()
      })
  }
}
