/** Who may import whom (docs/architecture.md, "Rooms"): read from the sources, so that no short cut goes unseen. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import t from 'tap'

type Import = { readonly from: string; readonly to: string; readonly typesOnly: boolean }

const SOURCES = new URL('../../src/', import.meta.url).pathname
const STATEMENT = /^(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?'([^']+)'/gm
const DYNAMIC = /\bimport\(\s*'([^']+)'\s*\)(\s*\.)?/g

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))
const imports = files.flatMap(importsOf)

/** Targets inside src as paths from it, packages and Node's modules by name. A module's type in passing (`import('x').Y`) is types only. */
function importsOf(from: string): Import[] {
  const text = readFileSync(join(SOURCES, from), 'utf8')
  const target = (name: string): string =>
    name.startsWith('.') ? relative(SOURCES, join(SOURCES, dirname(from), name)) : name
  return [
    ...[...text.matchAll(STATEMENT)].map(([, type, name = '']) => ({
      from,
      to: target(name),
      typesOnly: Boolean(type)
    })),
    ...[...text.matchAll(DYNAMIC)].map(([, name = '', dot]) => ({ from, to: target(name), typesOnly: Boolean(dot) }))
  ]
}

const within = (path: string, places: readonly string[]): boolean =>
  places.some(place => path === place || (place.endsWith('/') && path.startsWith(place)))
const isOurs = ({ to }: Import): boolean => to.endsWith('.ts')

/** May import these places of src, besides itself; of `types` their types only. */
type Room = {
  readonly folder: string
  readonly except?: string
  readonly may?: readonly string[]
  readonly types?: readonly string[]
}

const ROOMS: readonly Room[] = [
  { folder: 'domain/' },
  { folder: 'log/', may: ['domain/'] },
  { folder: 'connectors/sandbox/' },
  { folder: 'connectors/', except: 'connectors/sandbox/', types: ['domain/'] },
  {
    folder: 'actors/',
    may: ['domain/', 'log/'],
    types: ['connectors/', 'projections/port.ts', 'coordination/port.ts']
  },
  { folder: 'projections/', may: ['domain/', 'log/'] },
  {
    folder: 'http/',
    may: ['domain/ids.ts', 'domain/tenant.ts'],
    types: ['domain/', 'projections/port.ts', 'coordination/port.ts']
  },
  { folder: 'coordination/', may: ['domain/shards.ts', 'log/encryption.ts'] },
  { folder: 'config/' }
]
/** Composition: wires everything, and nobody imports it. */
const COMPOSITION = ['service/', 'cli/']

/**
 * Imports that stand against the table, to be mended and not to be added to: connectors are made by the composition and
 * handed in, so that the actors know their types only.
 * A line that is not needed any more fails the test.
 */
const KNOWN: readonly (readonly [from: string, to: string])[] = []

const isKnown = ({ from, to }: Import): boolean => KNOWN.some(known => known[0] === from && known[1] === to)
const shown = ({ from, to, typesOnly }: Import): string => `${from} imports ${typesOnly ? 'types of ' : ''}${to}`

for (const { folder, except, may = [], types = [] } of ROOMS)
  t.test(`${folder} imports what its room may`, async t => {
    const isOutside = (path: string): boolean =>
      !within(path, [folder]) || (except !== undefined && within(path, [except]))
    const own = imports.filter(({ from }) => !isOutside(from))
    t.ok(
      files.some(file => !isOutside(file)),
      'the room is there'
    )
    const strays = own.filter(
      one =>
        isOurs(one) && isOutside(one.to) && !isKnown(one) && !within(one.to, one.typesOnly ? [...may, ...types] : may)
    )
    t.same(strays.map(shown), [])
  })

t.test('every file has a room', async t => {
  const places = [...ROOMS.map(({ folder }) => folder), ...COMPOSITION]
  t.same(
    files.filter(file => !within(file, places)),
    []
  )
})

t.test('the domain stands on nothing at all', async t => {
  const packages = imports.filter(one => within(one.from, ['domain/']) && !isOurs(one))
  t.same(packages.map(shown), [])
})

const OWNERS: readonly (readonly [name: string, places: readonly string[]])[] = [
  ['nact', ['actors/mailbox.ts']],
  ['fastify', ['http/']],
  ['commander', ['cli/']],
  ['better-sqlite3', ['log/', 'projections/', 'cli/views.ts']],
  ['undici', ['connectors/']],
  ['ioredis', ['coordination/redis/']]
]
for (const [name, places] of OWNERS)
  t.test(`${name} is known in ${places.join(', ')} only`, async t => {
    const users = imports.filter(({ to }) => to === name)
    t.ok(users.length > 0)
    t.same(users.filter(({ from }) => !within(from, places)).map(shown), [])
  })

t.test('every exception is still needed', async t => {
  const idle = KNOWN.filter(([from, to]) => !imports.some(one => one.from === from && one.to === to))
  t.same(idle, [])
})

t.test('the reader of imports sees every form', async t => {
  t.ok(imports.length > files.length, 'most files import something')
  t.ok(
    imports.some(({ from, to }) => from === 'cli/program.ts' && to === 'cli/serve.ts'),
    'dynamic imports'
  )
  t.ok(
    imports.some(({ to, typesOnly }) => to === 'projections/port.ts' && typesOnly),
    'types'
  )
})
