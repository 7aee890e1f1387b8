import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { z } from 'zod'
import { type Catalogue, catalogue, createCatalogue, UnknownEventVersion } from '../../src/log/catalogue/catalogue.ts'
import type { EventDefinition } from '../../src/log/catalogue/definition.ts'
import { eventsDocument } from '../../src/log/catalogue/document.ts'
import { at, id } from '../support/domain.ts'

const queued = {
  messageId: id('msg', 'm'),
  tenantId: id('tn', 't'),
  channelId: id('ch', 'a'),
  contactId: id('ct', 'c'),
  contentKind: 'text',
  expiresAt: at(60)
}

/** A made-up type in its third version: the name was split, then the parts were put into a list. */
function renamed(): Catalogue {
  const definition: EventDefinition = {
    type: 'PersonNamed',
    version: 3,
    stream: 'person-…',
    by: 'test',
    about: 'A made-up event.',
    data: z.strictObject({ names: z.array(z.string()) }),
    sealed: null,
    key: null,
    upcasters: {
      1: data => {
        const [first, last] = (data as { name: string }).name.split(' ')
        return { first, last }
      },
      2: data => ({ names: Object.values(data as object) })
    }
  }
  return createCatalogue([definition])
}

t.test('stored versions are read in the newest shape', async t => {
  const { upcast } = renamed()
  t.strictSame(upcast('PersonNamed', 1, { name: 'Ada Lovelace' }), { names: ['Ada', 'Lovelace'] })
  t.strictSame(upcast('PersonNamed', 2, { first: 'Ada', last: 'Lovelace' }), { names: ['Ada', 'Lovelace'] })
  const current = { names: ['Ada'] }
  t.equal(upcast('PersonNamed', 3, current), current, 'the current version is handed through')
})

t.test('what this program does not know is refused', async t => {
  const { upcast } = renamed()
  for (const [type, version] of [
    ['PersonNamed', 4],
    ['PersonNamed', 0],
    ['PersonNamed', 1.5],
    ['Unheard', 1]
  ] as const)
    t.throws(() => upcast(type, version, {}), { name: 'UnknownEventVersion', type, version })
  t.throws(() => catalogue.upcast('MessageQueued', 2, queued), UnknownEventVersion)
  t.throws(() => catalogue.definition('Unheard'), /not in the catalogue/)
})

t.test('a catalogue without gaps', async t => {
  const [first] = renamed().all()
  if (!first) throw new Error('the made-up catalogue is empty')
  t.throws(() => createCatalogue([first, first]), /defined twice/)
  t.throws(() => createCatalogue([{ ...first, upcasters: {} }]), /no upcaster from version 1/)
})

t.test('a schema takes the domain’s shape and nothing else', async t => {
  const { data } = catalogue.definition('MessageQueued')
  t.ok(data.safeParse(queued).success)
  t.notOk(data.safeParse({ ...queued, to: '4917012345678' }).success, 'an unknown member')
  t.notOk(data.safeParse({ ...queued, channelId: queued.messageId }).success, 'another kind of id')
  t.notOk(data.safeParse({ ...queued, expiresAt: '2024-05-01T00:00:00Z' }).success, 'a time without milliseconds')
  t.notOk(data.safeParse({ ...queued, replyTo: undefined }).success, 'an absent member is left out')
  const { contactId: _contactId, ...anonymous } = queued
  t.notOk(data.safeParse(anonymous).success, 'a missing member')
})

t.test('what is sealed says whose key seals it', async t => {
  for (const { type, sealed, key, data } of catalogue.all()) {
    t.equal(sealed !== null, key !== null, type)
    t.doesNotThrow(() => z.toJSONSchema(data), `${type} can be documented`)
  }
})

t.test('docs/events.md is up to date', async t => {
  const written = readFileSync(join(process.cwd(), 'docs', 'events.md'), 'utf8')
  t.equal(written, eventsDocument(catalogue.all()), 'else write it anew: npm run docs')
})
