/** What the parts of the contract suite share. */
import type { EventLog, RecordedEvent } from '../../src/log/port.ts'

/** The first events of the log in its order, with positions and numbers, which reading one stream need not tell. */
export function followed(log: EventLog, count: number): Promise<readonly RecordedEvent[]> {
  return new Promise(resolve => {
    const seen: RecordedEvent[] = []
    const follower = log.follow(0, page => {
      seen.push(...page)
      if (seen.length >= count) void follower.close().then(() => resolve(seen))
    })
  })
}
