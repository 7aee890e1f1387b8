/** Readers for JSON that somebody else wrote: a missing or odd value becomes null or empty, and nothing throws. */

export type Loose = { readonly [key: string]: unknown }

const NO_MEMBERS: Loose = Object.freeze(Object.create(null))
const NO_ITEMS: readonly unknown[] = Object.freeze([])

/** Past the year 9999 an ISO time has another form, which does not sort as text. */
const DATE_MS_MAX = Date.UTC(10_000, 0, 1) - 1

export function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object, or an empty one. */
export function objectOf(value: unknown): Loose {
  return isObject(value) ? value : NO_MEMBERS
}

/** The array, or an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NO_ITEMS
}

/** A string that holds something, else null. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A string of 1 to `maximum` characters, else null: what is stored has a limit, and an overlong id is nobody's. */
export function textUpTo(value: unknown, maximum: number): string | null {
  const text = textOf(value)
  return text !== null && text.length <= maximum ? text : null
}

/** An identifier as text: platforms write the same id as a string here and as a number there. */
export function idOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return textOf(value)
}

/** A finite number written as number, as text, or as the `{ low, high }` of protobuf JSON; else null. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'string' && value.trim() !== '') {
    const number = Number(value)
    return Number.isFinite(number) ? number : null
  }
  if (!isObject(value) || typeof value.low !== 'number' || typeof value.high !== 'number') return null
  const number = value.high * 2 ** 32 + (value.low >>> 0)
  return Number.isFinite(number) ? number : null
}

/** ISO 8601 time of Unix seconds, or null. */
export function isoOfSeconds(value: unknown): string | null {
  const seconds = numberOf(value)
  return seconds === null ? null : isoOfMilliseconds(Math.round(seconds * 1000))
}

/** ISO 8601 time of Unix milliseconds, or null. */
export function isoOfMilliseconds(value: unknown): string | null {
  const ms = numberOf(value)
  if (ms === null || ms <= 0 || ms > DATE_MS_MAX) return null
  return new Date(ms).toISOString()
}

/** The parsed object, or null when the text is not a JSON object. */
export function parseObject(text: string): Loose | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
