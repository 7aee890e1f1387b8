/** Bodies with mistakes in them, the same ones for the same seed. */

/** mulberry32: small, seeded, good enough to choose mistakes. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  Number.MAX_SAFE_INTEGER,
  '',
  'x',
  'a\0b',
  'lone \ud800',
  'x'.repeat(5_000),
  '__proto__',
  '99999999999999999999',
  '-1',
  [],
  {},
  [[[[]]]],
  { __proto__: null, constructor: 1, toString: 2 },
  [null, 1, 'x', {}],
  'msg_00000000000000000000000000',
  'wamid.',
  '@c.us',
  'true_@c.us_',
  '1@lid'
]
type Node = Record<string, unknown> | unknown[]
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null

/** All places in a body where something can go wrong. */
function placesIn(value: unknown, places: { node: Node; key: string }[] = []): { node: Node; key: string }[] {
  if (isNode(value))
    for (const key of Object.keys(value)) {
      places.push({ node: value, key })
      placesIn((value as Record<string, unknown>)[key], places)
    }
  return places
}

export function createMutator(seed: number) {
  const random = randomOf(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  function pick<T>(list: readonly T[]): T {
    const one = list[below(list.length)]
    if (one === undefined) throw new Error('nothing to choose from')
    return one
  }

  /** One to four mistakes in the tree. */
  function mutate(body: object): object {
    const copy = structuredClone(body)
    for (let left = 1 + below(4); left > 0; left--) {
      const places = placesIn(copy)
      if (places.length === 0) break
      const { node, key } = pick(places)
      const members = node as Record<string, unknown>
      const other = pick(places)
      switch (below(6)) {
        case 0:
          if (Array.isArray(node)) node.splice(Number(key), 1)
          else delete members[key]
          break
        case 1:
          members[key] =
            (other.node as Record<string, unknown>)[other.key] === node
              ? null
              : structuredClone((other.node as Record<string, unknown>)[other.key])
          break
        case 2:
          if (Array.isArray(node)) node.push(structuredClone(node[0]))
          else members[`${key}X`] = members[key]
          break
        case 3:
          members[key] = [members[key]]
          break
        default:
          members[key] = structuredClone(pick(ODD))
      }
    }
    return copy
  }

  /** At times the bytes themselves are broken. */
  function bytesOf(body: object): Buffer {
    const bytes = Buffer.from(JSON.stringify(body))
    const chance = below(20)
    if (chance === 0) return bytes.subarray(0, below(bytes.length))
    if (chance === 1) bytes[below(bytes.length)] = below(256)
    return bytes
  }

  return { random, pick, mutate, bytesOf }
}
