/** Text and keys that a store or a receiver could trip over, wherever they stand in a body. */
export type Flaw = { readonly path: readonly (string | number)[]; readonly message: string }

const FLAWS_MAX = 20

type Place = { readonly value: unknown; readonly key: string | number; readonly parent: Place | null }

/**
 * Walks with a stack of its own: nesting is as deep as the sender likes. A body with more than `valuesMax` values and
 * keys in it is one flaw, and the walk ends there.
 */
export function findFlaws(root: unknown, valuesMax = Number.POSITIVE_INFINITY): readonly Flaw[] {
  const flaws: Flaw[] = []
  const places: Place[] = [{ value: root, key: '', parent: null }]
  let seen = 0
  for (let place = places.pop(); place && flaws.length < FLAWS_MAX; place = places.pop()) {
    const { value } = place
    if (typeof value === 'string' && isFlawed(value)) {
      flaws.push({ path: pathTo(place), message: 'must not hold NUL or lone surrogates' })
    }
    if (typeof value !== 'object' || value === null) continue
    const keys = Object.keys(value)
    seen += keys.length
    if (seen > valuesMax) return [{ path: [], message: `must not have more than ${valuesMax} values in it` }]
    for (const key of keys) {
      const child = (value as Record<string, unknown>)[key]
      const inner = { value: child, key: Array.isArray(value) ? Number(key) : key, parent: place }
      if (key === '__proto__') flaws.push({ path: pathTo(inner), message: 'is not an allowed key' })
      else if (isFlawed(key)) flaws.push({ path: pathTo(place), message: 'has a key with NUL or lone surrogates' })
      else places.push(inner)
    }
  }
  return flaws
}

const LONE_SURROGATE = /\p{Surrogate}/u
const isFlawed = (text: string): boolean => text.includes('\0') || LONE_SURROGATE.test(text)

function pathTo(place: Place): (string | number)[] {
  const path: (string | number)[] = []
  for (let at: Place | null = place; at?.parent; at = at.parent) path.push(at.key)
  return path.reverse()
}
