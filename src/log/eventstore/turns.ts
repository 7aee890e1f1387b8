import type { Clock } from '../clock.ts'
import { LogUnavailable } from '../port.ts'

export type TurnsOptions = {
  readonly clock: Clock
  /** Pieces of work at the same time. */
  readonly width: number
  /** Pieces of work that may wait. */
  readonly queueMax: number
  /** The same in characters of event text. */
  readonly textMax: number
  /** How long one may wait before it is turned away. */
  readonly waitMs: number
}

/** `size`: characters of event text. `isBulk`: what is not goes first, unless it waits for its own stream. */
export type Work = { readonly stream: string; readonly size: number; readonly isBulk: boolean }

/** Gives out turns in the order of arrival: one at a time to each stream, a few at a time to all. */
export type Turns = {
  /** Rejects with LogUnavailable when the queue is full or the wait too long: the work was not begun then. */
  run<T>(work: Work, doIt: () => Promise<T>): Promise<T>
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>
}

/** However many single ones there are, a batch goes on: each so manyth turn is its own. */
const BULK_EVERY = 4

type Turn = { readonly stream: string; readonly isBulk: boolean; begin(): Promise<void> }

export function createTurns({ clock, width, queueMax, textMax, waitMs }: TurnsOptions): Turns {
  const lanes = new Map<string, Turn[]>()
  const single: Turn[] = []
  const bulk: Turn[] = []
  const idlers: (() => void)[] = []
  let given = 0
  let running = 0
  let waiting = 0
  let text = 0

  function start(): void {
    for (; running < width; running++) {
      const turn = next()
      if (!turn) break
      void finish(turn)
    }
    if (lanes.size === 0) for (const wake of idlers.splice(0)) wake()
  }

  async function finish(turn: Turn): Promise<void> {
    await turn.begin()
    running--
    const lane = lanes.get(turn.stream)
    lane?.shift()
    const next = lane?.[0]
    if (next) makeReady(next)
    else lanes.delete(turn.stream)
    start()
  }

  function next(): Turn | undefined {
    const isTurnOfBulk = ++given % BULK_EVERY === 0
    return isTurnOfBulk ? (bulk.shift() ?? single.shift()) : (single.shift() ?? bulk.shift())
  }

  function makeReady(turn: Turn): void {
    ;(turn.isBulk ? bulk : single).push(turn)
  }

  function enqueue(turn: Turn): void {
    const lane = lanes.get(turn.stream)
    if (lane) lane.push(turn)
    else {
      lanes.set(turn.stream, [turn])
      makeReady(turn)
    }
    start()
  }

  return {
    run({ stream, size, isBulk }, doIt) {
      if (waiting >= queueMax || text + size > textMax)
        return Promise.reject(new LogUnavailable('too many appends wait for EventStoreDB'))
      waiting++
      text += size
      return new Promise((resolve, reject) => {
        let isWaiting = true
        const leave = (): void => {
          isWaiting = false
          cancel()
          waiting--
          text -= size
        }
        const cancel = clock.after(waitMs, () => {
          leave()
          reject(new LogUnavailable('an append has waited too long for EventStoreDB'))
        })
        enqueue({
          stream,
          isBulk,
          async begin() {
            if (!isWaiting) return
            leave()
            await doIt().then(resolve, reject)
          }
        })
      })
    },
    idle: () => (lanes.size === 0 ? Promise.resolve() : new Promise(resolve => void idlers.push(resolve)))
  }
}
