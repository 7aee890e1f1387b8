/**
 * The floor of an admission: a bare JSON route, the same encryptions, and a group-committed insert of the same rows into
 * the same tables, in one process. No key is looked up, nothing is validated, nobody is asked whether the message exists,
 * and no view follows.
 */
import { randomBytes } from 'node:crypto'
import fastify from 'fastify'
import { eventId } from '../src/log/codec.ts'
import { encrypt } from '../src/log/encryption.ts'
import { chainHash, NO_HASH, sha256 } from '../src/log/hash-chain.ts'
import { contactIndex, newTenantKeys, outboundMessageId } from '../src/log/keys/tenant-keys.ts'
import { nameKey } from '../src/log/sqlite/heads.ts'
import { openForWriting } from '../src/log/sqlite/schema.ts'
import { obey } from './program.ts'

/** `known`: recipients have their keys already, as those of our own run do. */
export type FloorOrder =
  | { readonly kind: 'start'; readonly file: string }
  | { readonly kind: 'contacts'; readonly known: boolean }

type Send = {
  readonly to: string
  readonly content: unknown
  readonly idempotencyKey: string
  readonly metadata?: unknown
}
type Row = {
  readonly stream: string
  readonly id: string
  readonly type: string
  readonly body: string
  readonly meta: string
}
type Waiting = {
  readonly rows: readonly Row[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const tenantKeys = newTenantKeys('tn_floor')
const tenantKey = tenantKeys.encryption
const knownKey = randomBytes(32)
/** As many rows as our own commits have appends. */
const ROWS_PER_COMMIT = 256
const BATCH = { bodyLimit: 1024 * 1024 }

let counter = 0
let contactsKnown = false

/** An id as long as ours. */
const newId = (prefix: string): string => `${prefix}_${String(++counter).padStart(26, '0')}`
const tenant = newId('tn')
const channelId = newId('ch')

function keyRow(contactId: string, key: Buffer, to: string, at: string, index = newId('ct').slice(3)): Row {
  const id = newId('evt')
  const data = { contactId, tenantId: tenant, index, wrapped: encrypt(tenantKey, key, contactId) }
  return {
    stream: `keys-${tenant}.${index}.1`,
    id,
    type: 'ContactKeyCreated',
    body: JSON.stringify({ v: 1, data, sealed: encrypt(key, JSON.stringify({ address: to }), id) }),
    meta: JSON.stringify({ tenant, trace: null, cause: null, source: 'keyring', at })
  }
}

function messageRow(messageId: string, contactId: string, key: Buffer, send: Send, at: string, id = newId('evt')): Row {
  const data = { messageId, tenantId: tenant, channelId, contactId, contentKind: 'text' }
  const { to, content, metadata } = send
  return {
    stream: `message-${messageId}`,
    id,
    type: 'MessageQueued',
    body: JSON.stringify({ v: 1, data, sealed: encrypt(key, JSON.stringify({ to, content, metadata }), id) }),
    meta: JSON.stringify({ tenant, trace: newId('tr'), cause: null, source: 'api', at, subject: contactId })
  }
}

/** All that waits goes into one transaction, as soon as what has arrived was taken in. */
function createInserter(file: string): (rows: readonly Row[]) => Promise<void> {
  const db = openForWriting(file)
  // No other thread copies for it: what it does not pay for now it would pay for later.
  db.pragma('wal_autocheckpoint = 4000')
  const stream = db.prepare('INSERT INTO streams (name, key, revision, head_hash, erased) VALUES (?, ?, ?, ?, ?)')
  const event = db.prepare(
    'INSERT INTO events (stream_no, revision, hash, id, type, body, meta) VALUES (?, ?, ?, ?, ?, ?, ?)'
  )
  let waiting: Waiting[] = []
  const insert = db.transaction((group: readonly Waiting[]) => {
    for (const { rows } of group)
      for (const row of rows) {
        const hash = Buffer.from(chainHash(NO_HASH, row.stream, 0, row), 'hex')
        const { lastInsertRowid } = stream.run(row.stream, nameKey(sha256(row.stream)), 0, hash, 0)
        event.run(lastInsertRowid, 0, hash, row.id, row.type, row.body, row.meta)
      }
  })

  function commit(): void {
    const group = waiting
    waiting = []
    try {
      insert(group)
      for (const { resolve } of group) resolve()
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  return rows =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(commit)
      waiting.push({ rows, resolve, reject })
    })
}

async function start(file: string): Promise<string> {
  const insert = createInserter(file)
  const knownContact = newId('ct')
  const app = fastify()
  app.post<{ Body: Send }>('/v1/channels/:ref/messages', async (request, reply) => {
    const send = request.body
    const at = new Date().toISOString()
    const messageId = newId('msg')
    const key = contactsKnown ? knownKey : randomBytes(32)
    const contactId = contactsKnown ? knownContact : newId('ct')
    const message = messageRow(messageId, contactId, key, send, at)
    await insert(contactsKnown ? [message] : [keyRow(contactId, key, send.to, at), message])
    reply.code(202)
    return { idempotencyKey: send.idempotencyKey, idempotent: false, messageId, state: 'queued', traceId: newId('tr') }
  })
  app.post<{ Body: { messages: readonly Send[] } }>(
    '/v1/channels/:ref/messages/batch',
    BATCH,
    async (request, reply) => {
      const at = new Date().toISOString()
      const trace = newId('tr')
      const results: unknown[] = []
      const commits: Promise<void>[] = []
      let rows: Row[] = []
      for (const [index, send] of request.body.messages.entries()) {
        // Ids and blind indexes are hashes by contract: of the idempotency key, the recipient, the stream and the command.
        const messageId = outboundMessageId(tenantKeys, send.idempotencyKey)
        const blindIndex = contactIndex(tenantKeys, send.to)
        const id = eventId(`message-${messageId}`, trace, 0, at)
        const key = randomBytes(32)
        const contactId = newId('ct')
        rows.push(keyRow(contactId, key, send.to, at, blindIndex), messageRow(messageId, contactId, key, send, at, id))
        results.push({ idempotencyKey: send.idempotencyKey, index, messageId, status: 'accepted' })
        if (rows.length < ROWS_PER_COMMIT) continue
        commits.push(insert(rows))
        rows = []
        // A commit is due: the inserter gets its turn.
        await commits.at(-1)
      }
      commits.push(insert(rows))
      await Promise.all(commits)
      reply.code(202)
      return { results }
    }
  )
  return app.listen({ host: '127.0.0.1', port: 0 })
}

obey<FloorOrder>(async order => {
  if (order.kind === 'start') return start(order.file)
  contactsKnown = order.known
  return null
})
