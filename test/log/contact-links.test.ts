/** The identities of one contact share one key (decisions §7), whoever learns of them, in whatever order. */
import fc from 'fast-check'
import t from 'tap'
import type { Keyring } from '../../src/log/keyring.ts'
import type { Contact } from '../../src/log/keys/contact-keys.ts'
import type { EventLog } from '../../src/log/port.ts'
import { at, id } from '../support/domain.ts'
import { type Keys, openKeys } from '../support/keys.ts'

const TENANT = id('tn', 't')
const PHONE = '5511900000001'
const SHORT = '551100000001'
const USER_ID = 'BR.13491208655302741918'

async function opened(scope: { teardown(run: () => unknown): unknown }, ordered = false): Promise<Keys> {
  const keys = openKeys(scope, { ordered })
  await keys.keyring.createTenant(TENANT, at(0))
  return keys
}
const ensure = async (ring: Keyring, address: string): Promise<Contact> => ring.ensureContact(TENANT, address, at(0))
const idOf = async (ring: Keyring, address: string): Promise<string | undefined> =>
  (await ring.findContact(TENANT, address))?.id
const appends = (log: EventLog): Promise<number> => log.head()

t.test('an address that nobody had is one more of the contact: in memory, in the log, for other nodes', async t => {
  const { log, keyring, another } = await opened(t)
  const contact = await ensure(keyring, PHONE)
  t.notOk(keyring.isKnownAs(contact, USER_ID))
  const linked = await keyring.link(contact, USER_ID, at(1))
  t.equal(linked.contact.id, contact.id)
  t.equal(linked.position, await appends(log))
  t.ok(keyring.isKnownAs(contact, USER_ID))
  for (const ring of [keyring, another()]) {
    t.equal((await ensure(ring, USER_ID)).id, contact.id)
    t.equal((await ring.findContact(TENANT, USER_ID))?.address, PHONE)
  }
  const before = await appends(log)
  t.equal((await keyring.link(contact, USER_ID, at(2))).position, null)
  t.equal((await another().link(contact, USER_ID, at(2))).position, null)
  t.equal((await keyring.link(contact, PHONE, at(2))).position, null, 'its own address')
  t.equal(await appends(log), before, 'a link that stands is not written again')
})

t.test('on an ordered log a contact is linked whose key is still on its way', async t => {
  const { keyring, another } = await opened(t, true)
  const [phone, user] = [ensure(keyring, PHONE), ensure(keyring, USER_ID)]
  const linked = await keyring.link(await phone, SHORT, at(1))
  t.ok(linked.position, 'the link is in the log')
  const [later, sender] = await Promise.all([
    keyring.link(await phone, '4915100000001', at(1)),
    ensure(keyring, '4915100000001')
  ])
  t.equal(sender.id, later.contact.id, 'nobody makes a contact of the address meanwhile')
  t.equal(keyring.needOf(sender.id), undefined)
  await keyring.link(await user, PHONE, at(1))
  for (const ring of [keyring, another()])
    for (const address of [PHONE, SHORT, USER_ID]) t.equal(await idOf(ring, address), linked.contact.id, address)
})

t.test('both known before: one contact from now on, and what was sealed under either still opens', async t => {
  const { keyring, another } = await opened(t)
  const [phone, hidden] = [await ensure(keyring, PHONE), await ensure(keyring, USER_ID)]
  t.not(phone.id, hidden.id)
  const node = another()
  t.equal(await idOf(node, USER_ID), hidden.id)
  const sealed = (await keyring.seal(TENANT, hidden.id, 'before', 'evt_1')) ?? ''
  const linked = await keyring.link(hidden, PHONE, at(1))
  t.equal(linked.contact.id, phone.id, 'the phone number comes first, whoever linked')
  for (const ring of [keyring, another()]) {
    for (const address of [PHONE, USER_ID]) t.equal((await ensure(ring, address)).id, phone.id, address)
    t.equal(await ring.open(TENANT, hidden.id, sealed, 'evt_1'), 'before')
    t.equal((await ring.contact(TENANT, hidden.id))?.address, USER_ID)
    t.equal((await ensure(ring, USER_ID)).id, phone.id, 'also after the old key was in use')
  }
  t.equal(await idOf(node, USER_ID), hidden.id, 'another node has it in memory')
  node.reread(hidden.id)
  t.equal(await idOf(node, USER_ID), phone.id, 'until it is told')
})

t.test('two nodes that link the same pair at once, from both ends, agree', async t => {
  for (let round = 0; round < 6; round++) {
    const { log, keyring, another } = await opened(t)
    const [one, other] = [keyring, another()]
    const [a, b] = await Promise.all([ensure(one, PHONE), ensure(other, SHORT)])
    const results = await Promise.all([
      one.link(a, SHORT, at(1)),
      other.link(b, PHONE, at(1)),
      one.link(b, PHONE, at(1))
    ])
    t.equal(new Set(results.map(({ contact }) => contact.id)).size, 1)
    t.equal(results.filter(({ position }) => position !== null).length, 1, 'one of them wrote it')
    t.equal(await appends(log), 4, 'the tenant, two contacts and one link')
  }
})

t.test('a link that meets an erasure leaves nobody with an erased key', async t => {
  for (let round = 0; round < 6; round++) {
    const { log, keyring, another, eraseContact } = await opened(t)
    const [a, b] = [await ensure(keyring, PHONE), await ensure(keyring, SHORT)]
    const sealed = (await keyring.seal(TENANT, a.id, 'private', 'evt_1')) ?? ''
    await Promise.all([another().link(b, PHONE, at(1)), another().link(a, USER_ID, at(1)), eraseContact(a.id)])
    const later = another()
    t.equal(await later.open(TENANT, a.id, sealed, 'evt_1'), null)
    for (const address of [PHONE, SHORT, USER_ID]) t.not((await ensure(later, address)).id, a.id, address)
    const [begun, again] = [await ensure(later, PHONE), await ensure(later, USER_ID)]
    t.ok((await later.link(begun, USER_ID, at(2))).contact, 'and they can be linked anew')
    t.equal(await idOf(another(), USER_ID), await idOf(another(), PHONE))
    t.ok((await log.head()) > 0 && again)
  }
})

/** What the identities of people are, in the plainest words: sets of addresses. */
type Model = { readonly people: Set<Set<string>> }
const personOf = ({ people }: Model, address: string): Set<string> | undefined =>
  [...people].find(addresses => addresses.has(address))

type Step =
  | { readonly kind: 'meet'; readonly node: number; readonly one: string }
  | { readonly kind: 'link'; readonly node: number; readonly one: string; readonly other: string }
  | { readonly kind: 'erase'; readonly one: string }

const ADDRESSES = [PHONE, SHORT, '4915100000001', USER_ID, 'DE.1', '123456789@lid']
const address = fc.constantFrom(...ADDRESSES)
const node = fc.nat({ max: 1 })
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('meet' as const), node, one: address }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('link' as const), node, one: address, other: address }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('erase' as const), one: address }) }
  ),
  { minLength: 1, maxLength: 40 }
)

t.test('any sequence of links and erasures: one contact a person, nothing opens after its erasure', async t => {
  const play = async (sequence: readonly Step[]): Promise<void> => {
    const closing: (() => unknown)[] = []
    const { log, keyring, another } = await opened({ teardown: run => closing.push(run) })
    const rings = [keyring, another()]
    const model: Model = { people: new Set() }
    /** Sealed under whoever an address was at the time, with the person that it must go with. */
    const secrets: { contact: Contact; sealed: string; address: string; erased: boolean }[] = []

    const meet = async (ring: Keyring, one: string): Promise<Contact> => {
      const contact = await ensure(ring, one)
      if (!personOf(model, one)) model.people.add(new Set([one]))
      const sealed = await ring.seal(TENANT, contact.id, one, 'evt_1')
      secrets.push({ contact, sealed: sealed ?? '', address: one, erased: false })
      return contact
    }
    const link = async (ring: Keyring, one: string, other: string): Promise<void> => {
      const contact = await meet(ring, one)
      const { position } = await ring.link(contact, other, at(1))
      const [here, there] = [personOf(model, one), personOf(model, other)]
      if (here === there && position !== null) throw new Error('a link that stood was written again')
      if (there && here !== there) model.people.delete(there)
      for (const more of there ?? [other]) here?.add(more)
    }
    /** As the service does: the streams of all contacts of the person, then what every node has in memory. */
    const erase = async (one: string): Promise<void> => {
      const person = personOf(model, one)
      if (!person) return
      model.people.delete(person)
      for (const secret of secrets) {
        if (secret.erased || !person.has(secret.address)) continue
        await log.erase(secret.contact.stream)
        secret.erased = true
        for (const ring of rings) ring.forgetContact(secret.contact.id)
      }
    }

    for (const step of sequence) {
      const ring = rings[step.kind === 'erase' ? 0 : step.node] ?? keyring
      if (step.kind === 'meet') await meet(ring, step.one)
      else if (step.kind === 'link') await link(ring, step.one, step.other)
      else await erase(step.one)
      // Pages of the views tell the other nodes of every link.
      for (const other of rings) if (other !== ring) for (const { contact } of secrets) other.reread(contact.id)
    }
    for (const ring of [...rings, another()]) {
      for (const person of model.people) {
        const ids = await Promise.all([...person].map(one => idOf(ring, one)))
        if (new Set(ids).size !== 1 || ids[0] === undefined) throw new Error(`${[...person]} are ${ids}`)
      }
      const apart = await Promise.all([...model.people].map(([one = '']) => idOf(ring, one)))
      if (new Set(apart).size !== model.people.size) throw new Error('two persons became one')
      for (const one of ADDRESSES)
        if (!personOf(model, one) && (await idOf(ring, one)) !== undefined) throw new Error(`${one} is still somebody`)
      for (const { contact, sealed, address: text, erased } of secrets) {
        const opened = await ring.open(TENANT, contact.id, sealed, 'evt_1')
        if (opened !== (erased ? null : text)) throw new Error(`sealed for ${text}: ${opened}`)
      }
    }
    for (const close of closing) await close()
  }
  await fc.assert(fc.asyncProperty(steps, play), { numRuns: 40 })
  t.pass()
})
