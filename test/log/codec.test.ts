import t from 'tap'
import type { Event } from '../../src/domain/event.ts'
import { type CommandContext, decode, encode, eventId, openSealed } from '../../src/log/codec.ts'
import type { NewEvent, RecordedEvent } from '../../src/log/port.ts'
import { at, id } from '../support/domain.ts'
import { type Keys, openKeys } from '../support/keys.ts'

const TENANT = id('tn', 't')
const STREAM = `message-${id('msg', 'm')}`
const SECRET = { to: '4917012345678', content: { kind: 'text', text: 'a very private line' } }
const context: CommandContext = { commandId: 'tr_1', tenant: TENANT, trace: 'tr_1', cause: null, source: 'api' }

const queued = (contactId: string): Event => ({
  type: 'MessageQueued',
  at: at(0),
  providerAt: at(-5),
  data: {
    messageId: id('msg', 'm'),
    tenantId: TENANT,
    channelId: id('ch', 'a'),
    contactId,
    contentKind: 'text'
  },
  subject: contactId,
  sealed: SECRET
})

const recorded = (event: NewEvent): RecordedEvent => ({
  ...event,
  position: 7,
  stream: STREAM,
  streamNo: 1,
  revision: 0,
  hash: ''
})

/** One event of a contact whose key exists. */
async function encodeOne({ keyring }: Keys): Promise<{ encoded: NewEvent; event: Event; contactId: string }> {
  await keyring.createTenant(TENANT, at(0))
  const contact = await keyring.ensureContact(TENANT, SECRET.to, at(0))
  const event = queued(contact.id)
  const [encoded] = await encode(keyring, STREAM, [event], context)
  if (!encoded) throw new Error('nothing was encoded')
  return { encoded, event, contactId: contact.id }
}

t.test('there and back', async t => {
  const keys = openKeys(t)
  const { encoded, event, contactId } = await encodeOne(keys)
  const decoded = decode(recorded(encoded))
  t.match(decoded, { type: event.type, at: event.at, providerAt: event.providerAt, subject: contactId })
  t.strictSame(decoded.data, event.data)
  t.match(decoded, { id: encoded.id, position: 7, revision: 0 })
  t.strictSame(decoded.meta, {
    tenant: TENANT,
    trace: 'tr_1',
    cause: null,
    source: 'api',
    at: event.at,
    providerAt: event.providerAt,
    subject: contactId
  })
  t.notOk('sealed' in decoded, 'the sealed part stays closed')
  t.strictSame(await openSealed(keys.keyring, decoded), SECRET)
})

t.test('nothing personal is written in clear', async t => {
  const { encoded } = await encodeOne(openKeys(t))
  const bytes = encoded.body + encoded.meta
  for (const secret of [SECRET.to, SECRET.content.text]) t.notOk(bytes.includes(secret))
})

t.test('a sealed part is bound to its event and its key', async t => {
  const keys = openKeys(t)
  const { encoded, contactId } = await encodeOne(keys)
  const decoded = decode(recorded(encoded))
  await t.rejects(openSealed(keys.keyring, { ...decoded, id: eventId(STREAM, 'tr_1', 1, at(0)) }), 'another event')
  const other = await keys.keyring.ensureContact(TENANT, '4915198765432', at(0))
  await t.rejects(openSealed(keys.keyring, { ...decoded, subject: other.id }), "another contact's key")
  const altered = decoded.ciphertext?.replace(
    /^.{20}./,
    head => `${head.slice(0, 20)}${head.endsWith('A') ? 'B' : 'A'}`
  )
  await t.rejects(openSealed(keys.keyring, { ...decoded, ciphertext: altered ?? null }), 'an altered byte')
  t.not(other.id, contactId)
})

t.test('an erased contact: the event is written without its personal part, and reads as erased', async t => {
  const keys = openKeys(t)
  const { encoded, event, contactId } = await encodeOne(keys)
  await keys.eraseContact(contactId)
  t.equal(await openSealed(keys.keyring, decode(recorded(encoded))), null, 'what was written before')
  const [after] = await encode(keys.keyring, STREAM, [event], context)
  const decoded = decode(recorded(after ?? encoded))
  t.equal(decoded.ciphertext, null, 'what is written after')
  t.equal(decoded.subject, contactId)
  t.equal(await openSealed(keys.keyring, decoded), null)
})

t.test('ids: the same command on the same stream gives the same', async t => {
  t.equal(eventId(STREAM, 'c', 0, at(0)), eventId(STREAM, 'c', 0, at(0)))
  const others = [eventId(STREAM, 'c', 1, at(0)), eventId(STREAM, 'd', 0, at(0)), eventId(`${STREAM}x`, 'c', 0, at(0))]
  t.equal(new Set([...others, eventId(STREAM, 'c', 0, at(0))]).size, 4)
  t.match(eventId(STREAM, 'c', 0, at(0)), /^evt_[0-9a-hjkmnp-tv-z]{26}$/)
  t.ok(eventId(STREAM, 'c', 0, at(0)) < eventId(STREAM, 'c', 0, at(1)), 'they sort by time')
})

t.test('what the catalogue does not allow is not written', async t => {
  const keys = openKeys(t)
  const { event } = await encodeOne(keys)
  const data = event.data as object
  const attempt = async (wrong: Event) => encode(keys.keyring, STREAM, [wrong], context)
  await t.rejects(attempt({ ...event, data: { ...data, phone: '4917012345678' } }), { name: 'ZodError' })
  await t.rejects(attempt({ ...event, type: 'Unheard' }), /not in the catalogue/)
})

t.test('a version that is not known yet stops the reader', async t => {
  const { encoded } = await encodeOne(openKeys(t))
  const newer = { ...encoded, body: encoded.body.replace('"v":1', '"v":2') }
  t.throws(() => decode(recorded(newer)), { name: 'UnknownEventVersion', type: 'MessageQueued', version: 2 })
})
