import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { createKeyring, type Keyring } from '../../src/log/keyring.ts'
import { findMasterKey, masterKeyFile } from '../../src/log/keys/master-key.ts'
import {
  contactIndex,
  inboundMessageId,
  outboundMessageId,
  providerIdIndex,
  type TenantKeys,
  tenantKeyStream,
  wrapTenantKeys
} from '../../src/log/keys/tenant-keys.ts'
import { type EventLog, LogUnavailable, NO_STREAM, type RecordedEvent } from '../../src/log/port.ts'
import { at, id } from '../support/domain.ts'
import { openKeys, testMaster } from '../support/keys.ts'
import { all, temporaryDirectory } from '../support/log.ts'

const TENANT = id('tn', 't')
const ADDRESS = '4917012345678'
/** Computed apart from the code, under keys of 32 equal bytes. */
const KNOWN = {
  outbound: 'msg_aps3tttyg571a82hcj5g0zccb4',
  inbound: 'msg_y8hmc39tm7vjq680mxsrsd1vbf',
  provider: 'bf5769a132ee3c644e743e70596c1066',
  contact: 'fkfswnmx3n4h01n8dfssx155qw'
}

async function keyStreams(log: EventLog): Promise<RecordedEvent[]> {
  const head = await log.head()
  const found = await Promise.all(Array.from({ length: head }, (_, index) => log.at(index + 1)))
  return found.filter(event => event !== null)
}

/** What `keys rewrap` does for one tenant. */
async function rewrap(log: EventLog, keys: TenantKeys, generation: number, master = testMaster(1)): Promise<void> {
  const wrapped = wrapTenantKeys(master, keys)
  const body = JSON.stringify({ v: 1, data: { tenantId: TENANT, generation, wrapped, masterKeyId: master.id } })
  const event = { id: id('evt', `${generation}`), type: 'TenantKeysCreated', body, meta: '{}' }
  await log.append(tenantKeyStream(TENANT, generation), NO_STREAM, [event])
  await log.erase(tenantKeyStream(TENANT, generation - 1))
}

t.test('a tenant’s keys are made once', async t => {
  const { keyring, another } = openKeys(t)
  const [one, two] = await Promise.all([keyring.createTenant(TENANT, at(0)), another().createTenant(TENANT, at(0))])
  t.strictSame(one, two, 'whoever comes second takes the first ones')
  t.equal(keyring.tenantAtHand(TENANT), one)
  t.strictSame(await another().tenant(TENANT), one, 'another process reads them')
  t.equal(another().tenantAtHand(TENANT), undefined)
  await t.rejects(keyring.tenant(id('tn', 'z')), /has no keys/)
})

t.test('a wrong master key opens nothing, the previous one does', async t => {
  const { keyring, another } = openKeys(t)
  const keys = await keyring.createTenant(TENANT, at(0))
  await t.rejects(another([testMaster(2)]).tenant(TENANT), /no MASTER_KEY opens/)
  t.strictSame(await another([testMaster(2), testMaster(1)]).tenant(TENANT), keys)
})

t.test('a tenant’s keys are found in a later generation', async t => {
  const { log, keyring, another } = openKeys(t)
  const keys = await keyring.createTenant(TENANT, at(0))
  for (let generation = 2; generation <= 12; generation++) await rewrap(log, keys, generation)
  const found = await another().tenant(TENANT)
  t.equal(found.generation, 12)
  t.ok(found.id.equals(keys.id), 'message ids depend on the id key: it stays')
})

t.test('a rewrap that stopped half way: the generation that opens is taken', async t => {
  const { log, keyring, another } = openKeys(t)
  const keys = await keyring.createTenant(TENANT, at(0))
  const halfDone: EventLog = { ...log, erase: async () => {} }
  await rewrap(halfDone, keys, 2, testMaster(2))
  t.equal((await another([testMaster(2)]).tenant(TENANT)).generation, 2)
  t.equal((await another([testMaster(1)]).tenant(TENANT)).generation, 1)
})

t.test('a contact’s key is made once, however many ask at once', async t => {
  const { log, keyring, another } = openKeys(t)
  await keyring.createTenant(TENANT, at(0))
  const rings: Keyring[] = [keyring, another()]
  const asked = Array.from({ length: 50 }, (_, index) => rings[index % 2]?.ensureContact(TENANT, ADDRESS, at(0)))
  const contacts = await Promise.all(asked)
  t.equal(new Set(contacts.map(contact => contact?.id)).size, 1)
  t.equal(new Set(contacts.map(contact => contact?.key.toString('hex'))).size, 1)
  const created = (await keyStreams(log)).filter(({ type }) => type === 'ContactKeyCreated')
  t.equal(created.length, 1)
  t.notOk(JSON.stringify(created).includes(ADDRESS), 'the address is sealed')
})

t.test('on an ordered log nobody waits for a key: what is sealed under it needs it', async t => {
  const { log, keyring } = openKeys(t, { ordered: true })
  await keyring.createTenant(TENANT, at(0))
  const contact = await keyring.ensureContact(TENANT, ADDRESS, at(0))
  const need = keyring.needOf(contact.id)
  t.match(need, { stream: contact.stream })
  t.equal((await keyring.ensureContact(TENANT, ADDRESS, at(0))).id, contact.id)
  await log.append('message-1', NO_STREAM, [{ id: 'evt_1', type: 'Sealed', body: '{}', meta: '{}' }], { need })
  await new Promise(setImmediate)
  t.equal(keyring.needOf(contact.id), undefined, 'the key is there')
  t.equal((await all(log.read(contact.stream)))[0]?.id, need?.eventId)
})

t.test('whoever must come after a key can wait for it, also when it waits among those of a batch', async t => {
  const { log, keyring } = openKeys(t, { ordered: true })
  await keyring.createTenant(TENANT, at(0))
  const contact = await keyring.ensureContact(TENANT, ADDRESS, at(0), true)
  await keyring.settled(contact.id)
  const after = await log.append('erasure-1', NO_STREAM, [{ id: 'evt_1', type: 'Erased', body: '{}', meta: '{}' }])
  const [key] = await all(log.read(contact.stream))
  t.ok(after.kind === 'appended' && key && key.position < after.position)
  await keyring.settled(contact.id)
  t.equal(keyring.needOf(contact.id), undefined)
})

t.test('a key that never reached the log is nobody’s, and neither is what was sealed under it', async t => {
  const { log, keyring: whole } = openKeys(t, { ordered: true })
  await whole.createTenant(TENANT, at(0))
  let full = true
  const failing: EventLog = {
    ...log,
    append: async (stream, ...given) => {
      if (full && stream.startsWith('keys-')) throw new LogUnavailable('the disk is full')
      return log.append(stream, ...given)
    }
  }
  const ring = createKeyring({ log: failing, masters: [testMaster(1)], contactStream: () => null })
  const lost = await ring.ensureContact(TENANT, ADDRESS, at(0))
  const need = ring.needOf(lost.id)
  const event = { id: 'evt_1', type: 'Sealed', body: '{}', meta: '{}' }
  t.ok(await ring.seal(TENANT, lost.id, 'private', 'evt_1'), 'it is sealed all the same')
  await t.rejects(failing.append('message-1', NO_STREAM, [event], { need }), LogUnavailable)
  full = false
  const kept = await ring.ensureContact(TENANT, ADDRESS, at(0))
  t.not(kept.id, lost.id)
  t.match(await failing.append('message-1', NO_STREAM, [event], { need: ring.needOf(kept.id) }), { kind: 'appended' })
})

t.test('contacts are found by address and by id, by their own tenant only', async t => {
  const { keyring, another } = openKeys(t)
  await keyring.createTenant(TENANT, at(0))
  await keyring.createTenant(id('tn', 'z'), at(0))
  t.equal(await keyring.findContact(TENANT, ADDRESS), null)
  const contact = await keyring.ensureContact(TENANT, ADDRESS, at(0))
  for (const ring of [keyring, another()]) {
    t.equal((await ring.findContact(TENANT, ADDRESS))?.id, contact.id)
    t.equal((await ring.contact(TENANT, contact.id))?.address, ADDRESS)
    t.equal(await ring.contact(id('tn', 'z'), contact.id), null)
    t.equal(await ring.findContact(id('tn', 'z'), ADDRESS), null)
  }
  t.equal(await keyring.contact(TENANT, id('ct', 'z')), null)
})

t.test('an erased contact is gone; the next one starts anew', async t => {
  const { keyring, another, eraseContact } = openKeys(t)
  await keyring.createTenant(TENANT, at(0))
  const ids = new Set<string>()
  for (let generation = 1; generation <= 3; generation++) {
    const contact = await keyring.ensureContact(TENANT, ADDRESS, at(0))
    ids.add(contact.id)
    t.ok(contact.stream.endsWith(`.${generation}`), `generation ${generation}`)
    t.equal((await another().findContact(TENANT, ADDRESS))?.id, contact.id, 'another process finds it')
    const sealed = await keyring.seal(TENANT, contact.id, { text: 'private' }, 'evt_1')
    t.strictSame(await keyring.open(TENANT, contact.id, sealed ?? '', 'evt_1'), { text: 'private' })
    await eraseContact(contact.id)
    t.equal(await keyring.seal(TENANT, contact.id, { text: 'private' }, 'evt_1'), null)
    t.equal(await keyring.open(TENANT, contact.id, sealed ?? '', 'evt_1'), null)
    t.equal(await keyring.contact(TENANT, contact.id), null)
    t.equal(await keyring.findContact(TENANT, ADDRESS), null)
  }
  t.equal(ids.size, 3)
})

t.test('a contact of a later generation is read once', async t => {
  const { log, another, keyring, eraseContact } = openKeys(t)
  await keyring.createTenant(TENANT, at(0))
  await eraseContact((await keyring.ensureContact(TENANT, ADDRESS, at(0))).id)
  const second = await keyring.ensureContact(TENANT, ADDRESS, at(0))
  let reads = 0
  const counted: EventLog = {
    ...log,
    read(...given) {
      reads++
      return log.read(...given)
    }
  }
  const ring = createKeyring({ log: counted, masters: [testMaster(1)], contactStream: () => null })
  t.equal((await ring.ensureContact(TENANT, ADDRESS, at(0))).id, second.id)
  const before = reads
  await ring.ensureContact(TENANT, ADDRESS, at(0))
  await ring.findContact(TENANT, ADDRESS)
  t.equal(reads, before)
  t.ok(await another().ensureContact(TENANT, ADDRESS, at(0)))
})

t.test('a read under way does not bring an erased key back', async t => {
  const { log, keyring, eraseContact } = openKeys(t)
  await keyring.createTenant(TENANT, at(0))
  const { id: contactId, stream } = await keyring.ensureContact(TENANT, ADDRESS, at(0))
  const [stored] = await all(log.read(stream))
  if (!stored) throw new Error('the contact has no key stream')
  let finish = () => {}
  const held = new Promise<void>(resolve => (finish = resolve))
  const slow: EventLog = {
    ...log,
    async *read(name, options) {
      if (name !== stream) return yield* log.read(name, options)
      await held
      yield stored
    }
  }
  const ring = createKeyring({ log: slow, masters: [testMaster(1)], contactStream: () => stream })
  const reading = ring.contact(TENANT, contactId)
  await eraseContact(contactId)
  ring.forgetContact(contactId)
  finish()
  t.equal(await reading, null)
  t.equal(await ring.seal(TENANT, contactId, 'private', 'evt_1'), null)
})

t.test('secrets are sealed under the tenant’s key, and nothing without a tenant', async t => {
  const { keyring, another } = openKeys(t)
  await keyring.createTenant(TENANT, at(0))
  const sealed = (await keyring.seal(TENANT, 'tenant', { accessToken: 'x' }, 'evt_1')) ?? ''
  t.strictSame(await another().open(TENANT, 'tenant', sealed, 'evt_1'), { accessToken: 'x' })
  await t.rejects(keyring.open(TENANT, 'tenant', sealed, 'evt_2'), /does not open/)
  await t.rejects(async () => keyring.seal(null, 'tenant', {}, 'evt_1'), /without a tenant/)
})

t.test('derived ids and blind indexes never change', async t => {
  const key = (byte: number) => Buffer.alloc(32, byte)
  const keys: TenantKeys = { tenantId: TENANT, generation: 1, id: key(1), index: key(2), encryption: key(3) }
  const derived = {
    outbound: outboundMessageId(keys, 'order-1'),
    inbound: inboundMessageId(keys, id('ch', 'a'), 'wamid.1'),
    provider: providerIdIndex(keys, id('ch', 'a'), 'wamid.1'),
    contact: contactIndex(keys, ADDRESS)
  }
  t.strictSame(derived, KNOWN)
  t.not(outboundMessageId({ ...keys, id: key(4) }, 'order-1'), KNOWN.outbound, 'another tenant, another id')
})

t.test('where the master key comes from', async t => {
  const dataDir = temporaryDirectory(t)
  t.equal(findMasterKey({ dataDir, configured: null, logExists: true }), null, 'never made beside an existing log')
  t.notOk(existsSync(masterKeyFile(dataDir)))
  const configured = Buffer.alloc(32, 5)
  const found = findMasterKey({ dataDir, configured: configured.toString('base64'), logExists: true })
  t.strictSame(found, configured, 'the settings come first')
  t.notOk(existsSync(masterKeyFile(dataDir)), 'and are not written down')

  const made = findMasterKey({ dataDir, configured: null, logExists: false })
  t.equal(made?.length, 32)
  t.equal(statSync(masterKeyFile(dataDir)).mode & 0o777, 0o600)
  t.equal(readFileSync(masterKeyFile(dataDir), 'utf8').trim(), made?.toString('base64'))
  for (const logExists of [true, false])
    t.strictSame(findMasterKey({ dataDir, configured: null, logExists }), made, 'and found again')
  writeFileSync(masterKeyFile(dataDir), 'c2hvcnQ=')
  t.equal(findMasterKey({ dataDir, configured: null, logExists: false }), null, 'a broken file is not replaced')
})
