/** Failures that the provider caused, for the breaker: the newest of each channel, in a ring. */
import type { Rows, Table, Touch } from '../port.ts'
import { partyId } from './parties.ts'

/** Failures of one channel that are kept; also the most that a breaker can ask for. */
export const FAILURES_KEPT = 1_000

/** `slot`: `no` modulo the size of the ring. */
export const providerFailures: Table = {
  name: 'provider_failures',
  columns: { channelNo: 'INTEGER', slot: 'INTEGER', no: 'INTEGER', at: 'INTEGER' },
  keyLength: 2,
  indexes: [],
  withoutRowid: true
}

/** `failures`: how many there were; `released`: how many of them the last release has forgiven. */
export const failureHeads: Table = {
  name: 'failure_heads',
  columns: { channelNo: 'INTEGER', failures: 'INTEGER', released: 'INTEGER' },
  keyLength: 1,
  indexes: []
}

type Head = { channelNo: number; failures: number; released: number }

/** Our own findings: no sign of the provider's health (decisions §1, BREAKER_FAILURES). */
const OUR_FINDINGS: ReadonlySet<string> = new Set([
  'message_expired',
  'recipient_opted_out',
  'template_call_invalid',
  'invalid_recipient',
  'channel_deleted',
  'contact_erased'
])

type Failure = { readonly code: string; readonly by: 'service' | 'provider' }

export function noteFailure(rows: Rows, touch: Touch, channelNo: number, failure: Failure, atMs: number): void {
  if (failure.by !== 'provider' || OUR_FINDINGS.has(failure.code)) return
  const head = headOf(rows, channelNo)
  head.failures += 1
  rows.put(failureHeads, head)
  rows.put(providerFailures, { channelNo, slot: head.failures % FAILURES_KEPT, no: head.failures, at: atMs })
  touch('failure', partyId(rows, channelNo))
}

/** The channel's owner released its limit: what failed before counts no more. */
export function forgiveFailures(rows: Rows, channelNo: number): void {
  const head = headOf(rows, channelNo)
  rows.put(failureHeads, { ...head, released: head.failures })
}

const headOf = (rows: Rows, channelNo: number): Head =>
  rows.get<Head>(failureHeads, [channelNo]) ?? { channelNo, failures: 0, released: 0 }
