/** What every home of coordination promises to one node. Each test gets a home of its own. */
import t, { type Test } from 'tap'
import type { Coordination } from '../../src/coordination/port.ts'
import { contractOfLeases } from './contract-leases.ts'
import { contractOfBuckets, contractOfRequests } from './contract-limits.ts'
import { contractOfAnnouncements, contractOfEphemeral } from './contract-sharing.ts'

/** Opens a coordination that is closed with the test; problems that it tells of are collected. */
export type Open = (t: { teardown(run: () => unknown): unknown }, problems?: string[]) => Promise<Coordination>

export function contract(name: string, open: Open, options: { skip: string | false } = { skip: false }): void {
  const home = (subject: string, run: (t: Tap, open: Open) => Promise<void>): void =>
    void t.test(`${name}: ${subject}`, options, t => run(t, open))
  home('leases', contractOfLeases)
  home('token buckets', contractOfBuckets)
  home('request limits', contractOfRequests)
  home('ephemeral values', contractOfEphemeral)
  home('announcements', contractOfAnnouncements)
  home('health', async t => {
    const node = await open(t)
    t.same(node.health(), { ok: true, reason: null })
    await node.close()
    await t.resolves(node.close(), 'a second close changes nothing')
  })
}

export type Tap = Test
