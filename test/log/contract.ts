/** What every home of the event log promises. Each test gets a log of its own, empty or with a prefix of its own. */
import t from 'tap'
import type { EventLog } from '../../src/log/port.ts'
import { contractOfAppending } from './contract-append.ts'
import { contractOfErasing } from './contract-erase.ts'
import { contractOfFollowing } from './contract-follow.ts'
import { contractOfReading } from './contract-read.ts'

/** Opens a log and closes it with the test. */
export type Open = (t: { teardown(run: () => unknown): unknown }) => Promise<EventLog>

/** Where homes differ, and may. */
export type Traits = {
  /** Appends that arrive together get their positions in that order, whatever their streams are. */
  readonly keepsArrivalOrder: boolean
  /** Events that are read from one stream have their positions; else 0. */
  readonly tellsPositionsInStreams: boolean
}

export function contract(name: string, open: Open, traits: Traits): void {
  t.test(`${name}: appending`, async t => contractOfAppending(t, open, traits))
  t.test(`${name}: reading`, async t => contractOfReading(t, open))
  t.test(`${name}: following`, async t => contractOfFollowing(t, open))
  t.test(`${name}: erasing`, async t => contractOfErasing(t, open))
}
