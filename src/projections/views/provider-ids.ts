/**
 * Which message a provider id stands for. A provider id's blind index is long and random, and an index on such texts
 * slows down with its size; so the table holds a 52-bit hash of it and the message's number, and the message proves the match.
 */
import type { Rows, Table } from '../port.ts'

export const providerIds: Table = {
  name: 'provider_ids',
  columns: { hash: 'INTEGER', messageNo: 'INTEGER' },
  keyLength: 1,
  indexes: []
}

export type ProviderIdRow = { hash: number; messageNo: number }

/** Places after a hash's own that a collision may take: with 52 bits even one is rare. */
export const PROBES_MAX = 8

export function noteProviderId(rows: Rows, channelNo: number, providerIdIndex: string, messageNo: number): void {
  const first = hashOf(channelNo, providerIdIndex)
  for (let hash = first; hash < first + PROBES_MAX; hash++) {
    const taken = rows.get<ProviderIdRow>(providerIds, [hash])
    if (taken?.messageNo === messageNo) return
    if (taken) continue
    rows.put(providerIds, { hash, messageNo })
    return
  }
}

/** 52 bits of the text: two rounds of FNV-1a with different seeds. */
export function hashOf(channelNo: number, providerIdIndex: string): number {
  const text = `${channelNo}|${providerIdIndex}`
  let high = 0x811c9dc5
  let low = 0x01000193
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    high = Math.imul(high ^ code, 0x01000193)
    low = Math.imul(low ^ code, 0x85ebca6b)
  }
  low ^= low >>> 15
  return (high >>> 0) * 2 ** 20 + ((low >>> 0) & 0xfffff)
}
