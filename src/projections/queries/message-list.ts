/**
 * The message list. Newest first by the time of creation, then by the message's number: new messages come before what a
 * cursor has passed, so a page neither repeats nor skips one. The narrowest filter leads: contact, channel, tenant.
 */
import type { Database, Statement } from 'better-sqlite3'
import { LIMIT_BY_NAME } from '../../log/sqlite/limit.ts'
import { decodeCursor, pageOf } from '../cursor.ts'
import type { MessageFilter, MessageRow, Views } from '../port.ts'
import { messageStates } from '../views/codes.ts'
import type { StoredMessage } from '../views/message-tables.ts'
import { toIso, toMs } from '../views/time.ts'
import type { Numbers } from './numbers.ts'

type ListQueries = Pick<Views, 'messages' | 'messageStates' | 'messagesOf'>

type Range = {
  readonly from: number
  readonly to: number
  /** The place after which the page begins. */
  readonly beforeAt: number
  readonly beforeNo: number
  readonly limit: number
}
/** `contactNos`: a JSON array, for `person`; `contactNo` is its first. */
type Parties = {
  readonly tenantNo: number
  readonly channelNo: number
  readonly contactNo: number
  readonly contactNos: string
}
type Parameters = Range & Parties
/** `person`: one that several contacts stand for, whose messages are merged. */
type Lead = 'contact' | 'person' | 'channel' | 'tenant'
/** What decides the text of the statement. */
type Shape = { readonly lead: Lead; readonly state: number | null; readonly withChannel: boolean }
type Columns = 'listed' | 'state'

const LISTED = `m.messageNo, m.id, m.tenantNo, m.channelNo, m.contactId, m.state, m.attempts, m.lastError, m.traceId,
  m.createdAt, m.updatedAt`
const COLUMNS: Readonly<Record<Columns, string>> = { listed: LISTED, state: 'm.id, m.state' }
type Listed = Omit<StoredMessage, 'contactNo' | 'counted' | 'sentPosition' | 'providerIdIndex' | 'events'>

export function messageListQueries(db: Database, numbers: Numbers): ListQueries {
  const statements = new Map<string, Statement<[Parameters], unknown>>()
  const ofContact = db
    .prepare<[number, number], number>('SELECT count(*) FROM messages WHERE contactNo = ? AND tenantNo = ?')
    .pluck()

  function statementFor(columns: Columns, shape: Shape): Statement<[Parameters], unknown> {
    const key = `${columns}|${shape.lead}|${shape.state}|${shape.withChannel}`
    const known = statements.get(key)
    if (known) return known
    const statement = db.prepare<[Parameters], unknown>(listSql(columns, shape))
    statements.set(key, statement)
    return statement
  }

  function read(columns: Columns, tenantId: string, filter: MessageFilter, range: Range): readonly unknown[] {
    const state = filter.state === undefined ? null : messageStates.find(filter.state)
    const found = partiesOf(numbers, tenantId, filter)
    if (!found || (filter.state !== undefined && state === null)) return []
    const { lead, ...parties } = found
    const statement = statementFor(columns, { lead, state, withChannel: filter.channelId !== undefined })
    return statement.all({ ...parties, ...range })
  }

  return {
    messages(tenantId, filter, limit, cursor) {
      const [beforeAt = LAST, beforeNo = LAST] = cursor === null ? [] : decodeCursor('messages', cursor, 2)
      const range = { ...boundsOf(filter), beforeAt, beforeNo, limit: limit + 1 }
      const rows = read('listed', tenantId, filter, range) as readonly Listed[]
      const placeOf = (row: Listed) => [row.createdAt, row.messageNo]
      return pageOf('messages', rows, limit, placeOf, row => messageRow(row, numbers))
    },
    messageStates(tenantId, filter, limit) {
      const range = { ...boundsOf(filter), beforeAt: LAST, beforeNo: LAST, limit }
      const rows = read('state', tenantId, filter, range) as readonly Pick<Listed, 'id' | 'state'>[]
      return rows.map(({ id, state }) => ({ id, state: messageStates.word(state) }))
    },
    messagesOf(tenantId, contactId) {
      const tenantNo = numbers.party(tenantId)
      const contactNo = numbers.contact(contactId)
      return tenantNo === null || contactNo === null ? 0 : (ofContact.get(contactNo, tenantNo) ?? 0)
    }
  }
}

const LAST = Number.MAX_SAFE_INTEGER

const boundsOf = ({ from, to }: MessageFilter): { from: number; to: number } => ({
  from: from === undefined ? 0 : toMs(from),
  to: to === undefined ? LAST : toMs(to)
})

/** Null when one of them is nobody that we know: nothing matches then. */
function partiesOf(
  numbers: Numbers,
  tenantId: string,
  { channelId, contactId }: MessageFilter
): (Parties & { readonly lead: Lead }) | null {
  const tenantNo = numbers.party(tenantId)
  const channelNo = channelId === undefined ? 0 : numbers.party(channelId)
  if (tenantNo === null || channelNo === null) return null
  if (contactId === undefined) {
    const lead = channelId === undefined ? 'tenant' : 'channel'
    return { lead, tenantNo, channelNo, contactNo: 0, contactNos: '[]' }
  }
  const found = contactId === null ? [] : numbers.person(contactId)
  const [contactNo] = found
  if (contactNo === undefined) return null
  const lead = found.length === 1 ? 'contact' : 'person'
  return { lead, tenantNo, channelNo, contactNo, contactNos: JSON.stringify(found) }
}

/** Parameters of the range; the place is compared in two steps, as an index serves the first one only so. */
const IN_RANGE = `createdAt >= @from AND createdAt <= min(@to, @beforeAt)
  AND (createdAt < @beforeAt OR messageNo < @beforeNo)`
const NEWEST_FIRST = `ORDER BY createdAt DESC, messageNo DESC ${LIMIT_BY_NAME}`

/** Which messages, by index alone; then their rows. */
function listSql(columns: Columns, shape: Shape): string {
  return `SELECT ${COLUMNS[columns]} FROM (${placesSql(shape)}) p CROSS JOIN messages m ON m.messageNo = p.messageNo
    WHERE m.tenantNo = @tenantNo ORDER BY p.createdAt DESC, p.messageNo DESC`
}

function placesSql({ lead, state, withChannel }: Shape): string {
  const select = 'SELECT createdAt, messageNo FROM messages INDEXED BY'
  if (lead === 'contact' || lead === 'person') {
    const conditions = [
      // One contact's messages stand in the index as they are wanted; those of several have to be sorted.
      lead === 'contact' ? 'contactNo = @contactNo' : 'contactNo IN (SELECT value FROM json_each(@contactNos))',
      IN_RANGE,
      'tenantNo = @tenantNo',
      ...(withChannel ? ['channelNo = @channelNo'] : []),
      ...(state === null ? [] : [`state = ${state}`])
    ]
    return `${select} messages_2 WHERE ${conditions.join(' AND ')} ${NEWEST_FIRST}`
  }
  const party = lead === 'channel' ? 'messages_1 WHERE channelNo = @channelNo' : 'messages_0 WHERE tenantNo = @tenantNo'
  const states = state === null ? messageStates.words.map((_, code) => code) : [state]
  // The indexes keep each state by itself: the newest of every state, and of those the newest.
  const parts = states.map(
    code => `SELECT * FROM (${select} ${party} AND state = ${code} AND ${IN_RANGE} ${NEWEST_FIRST})`
  )
  return `${parts.join(' UNION ALL ')} ${NEWEST_FIRST}`
}

export function messageRow(row: Listed, numbers: Numbers): MessageRow {
  const { messageNo, tenantNo, channelNo, state, createdAt, updatedAt, ...shown } = row
  return {
    ...shown,
    tenantId: numbers.idOf(tenantNo),
    channelId: numbers.idOf(channelNo),
    state: messageStates.word(state),
    createdAt: toIso(createdAt),
    updatedAt: toIso(updatedAt)
  }
}
