/** The log's anchors as work of a shard: whoever holds it writes them. They keep no other work waiting. */
import type { Clock } from '../actors/clock.ts'
import type { Logger } from '../actors/core.ts'
import type { ShardWorker } from '../actors/shard-work.ts'
import { ANCHOR_STREAM } from '../log/anchors.ts'
import type { AnchorDuty } from './storage.ts'

/** A duty that could not begin is tried again after this. */
const AGAIN_MS = 10_000

export function anchorWork(duty: AnchorDuty, { clock, logger }: { clock: Clock; logger: Logger }): ShardWorker {
  let isOurs = false

  function begin(): void {
    if (!isOurs) return
    duty.begin().catch(error => {
      logger.warn({ err: error }, 'anchors cannot be written and are tried again')
      clock.after(AGAIN_MS, begin)
    })
  }

  return {
    async open(belongs) {
      if (isOurs || !belongs(ANCHOR_STREAM)) return
      isOurs = true
      begin()
    },
    async close(belongs) {
      if (!isOurs || !belongs(ANCHOR_STREAM)) return
      isOurs = false
      await duty.end()
    }
  }
}
