/**
 * Small numbers of tenants and channels, for rows and indexes of messages: given at first sight, in the order of the log.
 * Two tables, as either is found by the other.
 */
import type { Rows, Table } from '../port.ts'

export const parties: Table = {
  name: 'parties',
  columns: { no: 'INTEGER', id: 'TEXT' },
  keyLength: 1,
  indexes: []
}

export const partyNumbers: Table = {
  name: 'party_numbers',
  columns: { id: 'TEXT', no: 'INTEGER' },
  keyLength: 1,
  indexes: [],
  withoutRowid: true
}

type Party = { no: number; id: string }
type Kind = 'tenant' | 'channel'

/** Stands in place of a channel where all of a tenant's are meant. */
export const ALL_CHANNELS = 0

/** One event can be the first to name a tenant and a channel: hence two numbers for each position. */
export function partyNo(rows: Rows, kind: Kind, id: string, position: number): number {
  const known = rows.get<Party>(partyNumbers, [id])
  if (known) return known.no
  const no = position * 2 + (kind === 'tenant' ? 0 : 1)
  rows.put(partyNumbers, { id, no })
  rows.put(parties, { no, id })
  return no
}

export const partyId = (rows: Rows, no: number): string => rows.get<Party>(parties, [no])?.id ?? ''
