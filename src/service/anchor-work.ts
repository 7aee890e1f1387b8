/** The log's anchors as work of a shard: whoever holds it writes them. */
import type { ShardWorker } from '../actors/shard-work.ts'
import { ANCHOR_STREAM } from '../log/anchors.ts'
import type { AnchorDuty } from './storage.ts'

export const anchorWork = (duty: AnchorDuty): ShardWorker => ({
  async open(belongs) {
    if (belongs(ANCHOR_STREAM)) await duty.begin()
  },
  async close(belongs) {
    if (belongs(ANCHOR_STREAM)) await duty.end()
  }
})
