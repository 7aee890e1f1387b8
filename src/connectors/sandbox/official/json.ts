/** JSON as it comes from outside, and careful ways to look into it. */
export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = { [key: string]: Json | undefined }

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
export const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])
export const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined)
export const numberOf = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined)

/** Ids and codes arrive as strings or as numbers, depending on the caller. */
export const scalarOf = (value: Json | undefined): string | undefined =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : textOf(value)

/** The parsed value, or undefined when the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

const ESCAPED = /[/\u0080-\uffff]/g
const escapeOne = (char: string) => (char === '/' ? '\\/' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The platform signs bodies in which slashes and all non-ASCII characters are escaped; the value stays the same. */
export const escapedJson = (value: JsonObject): string => JSON.stringify(value).replace(ESCAPED, escapeOne)

/** Length in characters as a person counts them, computed only when the cheap length is already over the limit. */
export const longerThan = (text: string, limit: number): boolean => text.length > limit && [...text].length > limit
